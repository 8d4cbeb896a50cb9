"""What forms make of messages that share a template: the same as of messages read one by one."""

from typing import Any

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from tests.messages import push, put
from tests.observed import Observed
from tests.packets import SECOND, START_NS
from zdissect.dissection import Dissection
from zdissect.filters import compile_filter
from zdissect.pipeline import Options, dissect

FORMS: list[dict[str, Any]] = [
    {"form": "line"},
    {"form": "line", "color": "always", "payload_bytes": 3},
    {"form": "line", "long": True},
    {"form": "line", "long": True, "color": "always"},
    {"form": "csv"},
    {"form": "fields", "names": ("frame_number,message_number,sn,key_expr,timestamp,payload_len,zenoh.put.payload",)},
    {"form": "fields", "names": ("ext.name,attachment,timestamp_ntp64,tcp.srcport",)},
    {"form": "jsonl"},
]
FILTERS = [None, "key_expr == a", "payload_len > 2 and frame_number > 9", "timestamp", "body == DEL", "sn", "not sn"]


def conversation() -> Conversation:
    """Three messages again and again, with other payloads, times and attachments; some that differ; a finding."""
    made = Conversation().open()
    for number in range(12):
        stamp = {"timestamp": {"time": (START_NS // SECOND << 32) + number, "id": b"\x01\xaa"}, "T": 1}
        attached = [{"ext": "attachment", "value": b"at%d" % number}]
        bodies = [
            put(b"\xc3\xa9" * number, **stamp),
            put(b"\xff" * number, extensions=attached, E=1, encoding={"id": 4, "S": 0}),
            {"message": "DEL"},
        ]
        made.frame(0, *(push(key, body=body) for key, body in zip("abc", bodies, strict=True)))
        if number == 8:
            made.frame(0, push("d"), sn=77).keep_alive(0)
    return made


def items(rows: bool) -> list[Any]:
    return list(dissect(conversation().capture.frames, Options(rows=rows)))


@pytest.mark.parametrize("options", FORMS, ids=lambda one: "-".join(map(str, one.values())))
@pytest.mark.parametrize("wanted", FILTERS)
def test_all_forms_say_the_same(options: dict[str, Any], wanted: str | None) -> None:
    texts = []
    for rows in (True, False):
        form = make_form(DisplayOptions(**{"color": "never", **options}))
        test = compile_filter(wanted) if wanted else None
        text = []
        for item in items(rows):
            chosen = None if test is None else test.select(item)
            if chosen is None or any(chosen):
                text.append(form.show(item, chosen))
        texts.append(("".join(text), form.messages, form.findings))
    assert texts[0] == texts[1]
    assert texts[0][0]


def test_most_messages_had_a_template() -> None:
    found = Observed([item for item in items(True) if isinstance(item, Dissection)]).messages
    assert sum(message.template is not None for message in found) > len(found) // 2
