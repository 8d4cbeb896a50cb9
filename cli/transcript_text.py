"""A transcript for people: who says what, payloads below, both sides in colours of their own."""

from collections.abc import Callable
from typing import Any

from zdissect.engine.messages import Row
from zdissect.output.line import summary
from zdissect.output.style import Style
from zdissect.output.text import count, payload_lines, safe
from zdissect.transcript import SessionPlace

from .stats_units import duration

_ARROWS = (("→", "←"), (">", "<"))
"""From the opener of a session to the acceptor, and back; and the same in ASCII."""
_INDENT = " " * 10


class TranscriptText:
    """Writes the messages of a transcript.

    Args:
        sessions: As `SessionStats.report` gives them.
        clock: What writes times.
        limit: So many bytes of a payload are shown; 0: all.
        ascii_only: The output can't show arrows.
    """

    def __init__(
        self, sessions: list[dict[str, Any]], clock: Callable[[int], str], style: Style, limit: int, ascii_only: bool
    ) -> None:
        self.sessions = {session["session"]: session for session in sessions}
        self.clock = clock
        self.style = style
        self.sides = (style.raw, style.derived)
        self.limit = limit
        self.arrows = _ARROWS[ascii_only]
        self.introduced: set[int] = set()

    def message(self, row: Row, part: SessionPlace | None, direction: int) -> str:
        """The lines of a message, with those that introduce its session if it is the first one of that."""
        style, side = self.style, direction ^ part.flip if part is not None else direction
        color = self.sides[side]
        payload = row.get("payload")
        said = summary({name: value for name, value in row.items() if name != "payload"}, style, 0).strip()
        words = [said, *self.answer(row)]
        if payload is not None:
            encoding = row.get("encoding") or ""
            words.append(f"{style.dim}{count(len(payload))} {safe(encoding)}".rstrip() + style.end)
        if row.get("fragments"):
            words.append(f"{style.dim}in fragments of frames {', '.join(map(str, row['fragments']))}{style.end}")
        number = "-" if part is None else part.session
        head = f"{row['frame_number']:>5}  {self.clock(row['ts_ns'])}  {color}{number} {self.arrows[side]}{style.end}"
        lines = [*self.introduction(part), f"{head}  {'  '.join(words)}"]
        if payload:
            shown = payload_lines(payload, row.get("encoding") or "", self.limit)
            lines += [f"{_INDENT}{color}{line}{style.end}" for line in shown]
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def answer(self, row: Row) -> list[str]:
        """What an answer answers, and after which time."""
        if row.get("request_frame") is None:
            return []
        derived, end = self.style.derived, self.style.end
        return [f"{derived}[of frame {row['request_frame']}, +{duration(row['response_time_ns'] / 1e9)}]{end}"]

    def introduction(self, part: SessionPlace | None) -> list[str]:
        """The line that says who the ends of a session are, before its first message."""
        if part is None or part.session in self.introduced:
            return []
        self.introduced.add(part.session)
        session, style = self.sessions[part.session], self.style
        ends = [
            f"{color}{end['role'] or '?'} {end['zid'] or '?'} ({end['address']}){style.end}"
            for color, end in zip(self.sides, session["ends"], strict=True)
        ]
        flows = ", ".join(link["flow_id"] for link in session["links"])
        return [f"{style.frame}Session {part.session}{style.end}  {f' {self.arrows[0]} '.join(ends)}  {flows}"]
