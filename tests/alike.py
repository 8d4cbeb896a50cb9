"""A conversation with many messages alike, which have templates where it is read in blocks."""

from tests.conversation import Conversation
from tests.in_blocks import in_blocks
from tests.messages import push, put
from tests.packets import SECOND, START_NS
from zdissect.dissection import Item
from zdissect.pipeline import dissect


def conversation() -> Conversation:
    """Three messages again and again, with other payloads, times and attachments; some that differ; a finding."""
    made = Conversation().open()
    for number in range(12):
        stamp = {"timestamp": {"time": (START_NS // SECOND << 32) + number, "id": b"\x01\xaa"}, "T": 1}
        attached = [{"ext": "attachment", "value": b"at%d" % number}]
        bodies = [
            put(b"\xc3\xa9" * number, **stamp),
            put(b"\xff" * number, extensions=attached, E=1, encoding={"id": 4, "S": 0}),
            {"message": "DEL", "extensions": attached},
        ]
        made.frame(0, *(push(key, body=body) for key, body in zip("abc", bodies, strict=True)))
        if number == 8:
            made.frame(0, push("d"), sn=77).keep_alive(0)
    return made


def items(blocks: bool) -> list[Item]:
    """What it is dissected to; in blocks most messages have a template."""
    frames = conversation().capture.frames
    return in_blocks(frames) if blocks else list(dissect(frames))
