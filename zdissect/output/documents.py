"""What the pipeline yields as JSON documents: what `-T json` prints of a batch, of skipped bytes, of a notice."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from zdissect.dissection import Dissection, Finding, Item, Notice, findings
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import Row
from zdissect.engine.tape import Tape
from zdissect.engine.templates import MOST_TEMPLATES
from zdissect.flow.conversation import Flow
from zdissect.grammar.batch import BATCH
from zdissect.grammar.rule import Rule
from zdissect.grammar.transport import FRAME
from zdissect.output.member_stencils import MemberStencils
from zdissect.output.named_members import unit_text
from zdissect.output.printable import dumps
from zdissect.output.stencils import AT_ONCE, Stencils, Tell
from zdissect.records import Endpoint, Frame
from zdissect.table import endpoint

if TYPE_CHECKING:
    from zdissect.vector.arrays import Bools
    from zdissect.vector.usual_batches import UsualBatches

_JOINTS = {
    (None, True): ',"messages":[', (True, True): "},", (True, False): ',"messages":[', (False, False): "},",
    (False, True): "}]},", (True, None): "}]}", (False, None): "}]}]}",
}  # fmt: skip
"""What stands between the members of two messages, by whether they are of transport; None: before the first one,
and after the last."""


class DocumentWriter:
    """Writes items as documents."""

    def __init__(self, telling: Callable[[Row], Tell | None] | None = None) -> None:
        """`telling`: see `MemberStencils`."""
        self.stencils = Stencils(MemberStencils(telling).make)

    def document(self, item: Item, chosen: Sequence[bool] | None = None) -> str:
        """The whole of an item: where it is from, what it is, its findings; with `chosen`, of its messages only those.

        A dissection has its `frames`, its `buffer` and its `unit`. Bytes that couldn't be dissected are `skipped`,
        with their place in the stream; what no bytes show is a `notice`. Bytes are hex; integers above 2**53 are
        exact, as JSON allows.
        """
        found = ",".join([dumps(_found(finding)) for finding in findings(item)])
        start = _start(item.frame, _conversation(item.flow, item.direction))
        return f'{start},{self.content(item, chosen)},"findings":[{found}]}}'

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        """The same for usual batches, of the messages that are chosen."""
        shown = usual.with_frames()
        for some, all_ in shown.portions(shown.mask, AT_ONCE):
            yield from self.portion(some, all_)

    def portion(self, usual: "UsualBatches", chosen: "Bools") -> Iterator[str]:
        """The documents of usual batches that aren't too many, of all of their messages."""
        ways = [_conversation(flow, direction) for flow, direction in usual.ways]
        parts = zip(usual.is_outer.tolist(), self.stencils.texts(usual, chosen), strict=True)
        columns = (usual.frames, usual.carriers(), usual.bytes(), usual.way.tolist(), usual.counts.tolist())
        for frame, numbers, data, way, messages in zip(*columns, strict=True):
            text = [
                _start(frame, ways[way]),
                ",",
                _held(numbers, usual.ways[way][0].link, data),
                ',"missing":null,"unit":',
            ]
            text.append(_opening(data[: usual.framings[way].prefix], len(data)))
            before = None
            for is_outer, members in islice(parts, messages):
                text.append(_JOINTS[before, is_outer])
                text += members
                before = is_outer
            text.append(_JOINTS[before, None])
            text.append(',"findings":[]}')
            yield "".join(text)

    def content(self, item: Item, chosen: Sequence[bool] | None) -> str:
        """What an item holds; with `chosen`, of its messages only those."""
        if isinstance(item, Notice):
            return f'"notice":{dumps(item.text)}'
        if not isinstance(item, Dissection):
            data = item.data.hex() or None
            return f'"skipped":{dumps({"offset": item.offset, "size": item.size, "data": data, "reason": item.reason})}'
        held, missing = _held(item.frames, item.buffer.name, item.buffer.data, item.origin), _text(item.missing or None)
        return f'{held},"missing":{missing},"unit":{self.unit(item, chosen)}'

    def unit(self, item: Dissection, chosen: Sequence[bool] | None) -> str:
        """The unit of a dissection, or what is chosen of it."""
        if chosen is not None and not all(chosen):
            return unit_text(item.tape, item.messages, hidden(item, chosen))
        return unit_text(item.tape, item.messages)


def _start(frame: Frame, conversation: str) -> str:
    return f'{{"file":{_text(frame.source)},"frame_number":{frame.number},"ts_ns":{frame.ts_ns},{conversation}'


def _held(frames: Sequence[int], name: str, data: bytes, origin: str = "") -> str:
    buffer = f'"name":{_text(name)},"origin":{_text(origin or None)},"data":"{data.hex()}"'
    return f'"frames":[{",".join(map(str, frames))}],"buffer":{{{buffer}}}'


def _conversation(flow: Flow, direction: int) -> str:
    return _between(flow.id, flow.link, flow.ends if direction == 0 else flow.ends[::-1])


@lru_cache(4096)
def _between(ident: str, link: str, ends: tuple[Endpoint, Endpoint]) -> str:
    src, dst = map(endpoint, ends)
    return dumps({"flow_id": ident, "link": link, "src": src, "dst": dst})[1:-1]


@lru_cache(MOST_TEMPLATES)
def _opening(prefix: bytes, size: int) -> str:
    """The object of a batch up to its messages."""
    (unit, *rest) = interpret(BATCH, prefix, cut=True, prefix=len(prefix)).spans
    return unit_text(Tape(prefix, 0, size, [(*unit[:3], size, unit[4]), *rest], [])).removesuffix("}")


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
