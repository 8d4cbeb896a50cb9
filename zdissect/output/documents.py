"""What the pipeline yields as JSON documents: what `-T json` prints of a batch, of skipped bytes, of a notice."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from zdissect.dissection import Dissection, Finding, Item, Notice, findings
from zdissect.engine.lazy_messages import LazyTape
from zdissect.grammar.rule import Rule
from zdissect.grammar.transport import FRAME
from zdissect.output.member_stencils import MemberStencils
from zdissect.output.named_members import unit_text
from zdissect.output.printable import dumps
from zdissect.records import Endpoint
from zdissect.table import endpoint


class DocumentWriter:
    """Writes items as documents."""

    def __init__(self) -> None:
        self.stencils = MemberStencils()

    def document(self, item: Item, chosen: Sequence[bool] | None = None) -> str:
        """The whole of an item: where it is from, what it is, its findings; with `chosen`, of its messages only those.

        A dissection has its `frames`, its `buffer` and its `unit`. Bytes that couldn't be dissected are `skipped`,
        with their place in the stream; what no bytes show is a `notice`. Bytes are hex; integers above 2**53 are
        exact, as JSON allows.
        """
        frame, flow = item.frame, item.flow
        conversation = _conversation(flow.id, flow.link, flow.ends if item.direction == 0 else flow.ends[::-1])
        found = ",".join([dumps(_found(finding)) for finding in findings(item)])
        start = f'{{"file":{_text(frame.source)},"frame_number":{frame.number},"ts_ns":{frame.ts_ns}'
        return f'{start},{conversation},{self.content(item, chosen)},"findings":[{found}]}}'

    def content(self, item: Item, chosen: Sequence[bool] | None) -> str:
        """What an item holds; with `chosen`, of its messages only those."""
        if isinstance(item, Notice):
            return f'"notice":{dumps(item.text)}'
        if not isinstance(item, Dissection):
            data = item.data.hex() or None
            return f'"skipped":{dumps({"offset": item.offset, "size": item.size, "data": data, "reason": item.reason})}'
        frames = ",".join(map(str, item.frames))
        name, origin, data = _text(item.buffer.name), _text(item.origin or None), item.buffer.data.hex()
        buffer = f'"name":{name},"origin":{origin},"data":"{data}"'
        missing = _text(item.missing or None)
        return f'"frames":[{frames}],"buffer":{{{buffer}}},"missing":{missing},"unit":{self.unit(item, chosen)}'

    def unit(self, item: Dissection, chosen: Sequence[bool] | None) -> str:
        """The unit of a dissection, or what is chosen of it."""
        tape = item.tape
        if chosen is not None and not all(chosen):
            return unit_text(tape, item.messages, hidden(item, chosen))
        if isinstance(tape, LazyTape):
            return self.stencils.unit_text(tape, item.messages)
        return unit_text(tape, item.messages)


@lru_cache(4096)
def _conversation(ident: str, link: str, ends: tuple[Endpoint, Endpoint]) -> str:
    src, dst = map(endpoint, ends)
    return dumps({"flow_id": ident, "link": link, "src": src, "dst": dst})[1:-1]


_text = lru_cache(64)(dumps)


def _found(finding: Finding) -> dict[str, Any]:
    """A finding; what no bytes show has no place."""
    rule, text, item, start, stop = finding
    return described(rule, text, None if isinstance(item, Notice) else (start, stop))


def described(rule: Rule, text: str, place: tuple[int, int] | None) -> dict[str, Any]:
    """A finding, and its place in bytes if it has one."""
    out = {"severity": rule.severity, "group": rule.group, "code": rule.code, "message": text}
    return out if place is None else {**out, "_range": [place[0] * 8, (place[1] - place[0]) * 8]}


def hidden(item: Dissection, chosen: Sequence[bool]) -> set[int]:
    """The spans that aren't shown if only some messages are: those of all others, but not of a FRAME around them."""
    out: set[int] = set()
    frame: range | None = None
    spans = item.tape.spans
    for message, shown in zip(item.messages, chosen, strict=bool(item.messages)):
        own = range(message.first, message.stop)
        start, stop = spans[message.first][2:4]
        if frame is not None and shown and start < spans[frame.start][3]:
            out -= {*frame}
        if not shown:
            out |= {*own}
        if spans[message.first][0].node is FRAME and stop > start:
            frame = own
    return out
