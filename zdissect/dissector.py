"""From what a link carries in one unit, a batch or a datagram, to dissections: decoded, with what the session knows."""

from zdissect.dissection import Dissection, Item
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import DecodedMessage, add_findings, inherit, messages, nameless
from zdissect.engine.tape import Buffer
from zdissect.flow import misframed
from zdissect.flow.batch_decoding import decode
from zdissect.flow.framing import DATAGRAM
from zdissect.flow.misframed import Misframing
from zdissect.grammar.batch import NETWORK_MESSAGE
from zdissect.session.fragments import Assembled
from zdissect.session.state import Sessions

EMPTY = interpret(NETWORK_MESSAGE, b"", cut=True)
MISSING = {"cut": "cut-by-capture", "lost": "torn-batch", "end": "stream-ends", "limit": "limit"}
WHY = {
    "cut": "the rest was cut off by the capture (snap length)",
    "lost": "the rest isn't in the capture",
    "end": "the stream ends in the middle of a batch",
    "limit": "the rest is skipped: what isn't whole yet takes more memory than --limit streams",
}


class Dissector:
    """Dissects the units of a capture, in order."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    def dissect(self, item: Dissection, why: str, out: list[Item], hint: Misframing | None = None) -> None:
        """Decodes a batch, as its hint says if there is one; a compressed one gives two dissections, the batch and what
        it holds."""
        data, framing = item.buffer.data, item.framing
        limit = self.sessions.batch_limit(item.flow)
        item.tape, plain, inner = decode(data, item.framing, cut=bool(item.missing), limit=limit)
        self.sessions.framed(item)
        if item.missing:
            item.tape.remarks.append((MISSING[item.missing], len(data), len(data), why))
        if plain is None or inner is None:
            if hint is None and item.flow.link != "tcp" and not item.missing and misframed.doubtful(data, item.tape):
                hint = misframed.of_datagram(data, framing)
            self.hint(item, hint)
            self.known(item, out)
            return
        out.append(item)
        plain.origin = item.buffer.origin
        content = Dissection(item.frame, item.frames, item.flow, item.direction, plain, inner, DATAGRAM)
        size = len(data) - item.framing.prefix - 1
        content.origin = f"decompressed from {size} bytes, ratio {len(plain.data) / max(size, 1):.2f}"
        self.known(content, out, outer=item)
        item.next_framing = content.next_framing

    @staticmethod
    def hint(item: Dissection, hint: Misframing | None) -> None:
        """Reads a batch as it is meant, if that is known."""
        data = item.buffer.data
        if not data and not item.missing:
            item.tape.remarks.append(("truncated", 0, 0, "it is empty"))
        elif hint is not None:
            tape = hint.tape(data, cut=bool(item.missing))
            tape.remarks += [remark for remark in item.tape.remarks if remark[0] in MISSING.values()]
            item.tape, item.framing, item.scouting = tape, hint.framing, hint.scouts

    def known(
        self,
        item: Dissection,
        out: list[Item],
        found: list[DecodedMessage] | None = None,
        outer: Dissection | None = None,
    ) -> None:
        """Adds what the session knows; then come the messages that fragments of this batch complete."""
        item.messages = messages(item.tape) if found is None else found
        whole = self.sessions.feed(item)
        if item.tape.remarks:
            if not item.messages:
                item.messages = nameless(item.tape, "scouting" if item.scouting else "transport")
            add_findings(item.tape, item.messages)
        if outer is not None:
            add_findings(outer.tape, item.messages)
            for message in item.messages:
                message.row["compressed"] = True
        self.number(item)
        out.append(item)
        out += [self.assembled(item, message) for message in whole]
        self.told(out)

    def assembled(self, item: Dissection, whole: Assembled) -> Dissection:
        """A message that was put together from fragments."""
        buffer = Buffer("reassembled", whole.data, whole.origin)
        tape = interpret(NETWORK_MESSAGE, whole.data)
        out = Dissection(item.frame, tuple(whole.frames), item.flow, item.direction, buffer, tape, DATAGRAM)
        out.origin = f"reassembled from {whole.pieces} fragments"
        out.messages = messages(tape)
        for message in out.messages:
            message.row["fragments"] = whole.frames
            inherit(message.row, whole.channel)
        self.sessions.assembled(out)
        out.messages = out.messages or nameless(tape, "network")
        add_findings(tape, out.messages)
        self.number(out)
        return out

    @staticmethod
    def number(item: Dissection) -> None:
        """Numbers its messages, from what the flow knows of the last ones."""
        flow, direction, count = item.flow, item.direction, len(item.messages)
        item.first = flow.place(item.frame, count), flow.sent[direction]
        flow.sent[direction] += count

    def told(self, out: list[Item]) -> None:
        """Adds what sessions found out that no bytes show."""
        if self.sessions.notices:
            out += self.sessions.notices
            self.sessions.notices.clear()
