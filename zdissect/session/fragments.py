"""Reassembles fragmented messages (notes 4.5)."""

from dataclasses import dataclass, field

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.tape import Origin
from zdissect.session.sequence import Step

LARGEST = 256 << 20
"""Bytes of a message beyond which its chain is given up. The implementation's limit is 1 GiB by default."""


PIECE_BYTES = 120
"""Memory that a fragment takes besides its payload."""


@dataclass(slots=True)
class Assembled:
    """A reassembled message."""

    data: bytes
    frames: list[int]
    """Numbers of the frames that its fragments came in."""
    pieces: int
    origin: list[Origin]
    channel: Row
    """The row of the last fragment; its channel is the message's."""


@dataclass(slots=True)
class FragmentChain:
    """The open chain of one channel and priority."""

    pieces: list[bytes] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    size: int = 0
    broken: bool = False
    """Whether a fragment is missing: the rest is then ignored up to the next first fragment."""

    @property
    def kept(self) -> int:
        """The memory that it takes."""
        return self.size + PIECE_BYTES * len(self.pieces)

    @property
    def open(self) -> bool:
        """Whether pieces wait for the rest."""
        return bool(self.pieces)

    def clear(self, broken: bool = False) -> None:
        """Forgets the pieces."""
        self.pieces.clear()
        self.frames.clear()
        self.size = 0
        self.broken = broken

    def frame(self, message: DecodedMessage, step: Step) -> None:
        """Takes a FRAME of the same space: it may not come inside a chain, but may follow one that was abandoned."""
        if self.open:
            code = "fragment-interrupted" if step is Step.NEXT else "fragment-abandoned"
            message.remark(code, f"{self.size} bytes of a fragmented message without an end")
        self.clear()

    def feed(self, message: DecodedMessage, frame: int, step: Step, patch: int, whole: bool) -> Assembled | None:
        """Takes a FRAGMENT; returns the message if this is its last one.

        Args:
            frame: Number of the frame that carries it.
            step: How its sequence number follows.
            patch: The patch level that was negotiated.
            whole: The capture holds the stream from its handshake on, without a gap.
        """
        first, drop = message.has("fragment.ext_first"), message.has("fragment.ext_drop")
        more = message.flag("M")
        payload = message.value("fragment.payload")
        if step in (Step.DUPLICATE, Step.BACKWARD):
            return None
        if first:
            if self.open:
                message.remark("fragment-abandoned", f"{self.size} bytes of a fragmented message without an end")
            self.clear()
        elif step is Step.GAP and self.open:
            code = "fragment-hole" if whole else "fragment-start-missing"
            message.remark(code, f"a fragment is missing; the {self.size} bytes before it are dropped")
            self.clear(broken=True)
        elif not self.open and not self.broken and patch >= 1:
            code = "fragment-no-first" if whole else "fragment-start-missing"
            message.remark(code, "a fragment without the first one of its message")
            self.broken = True
        if drop:
            message.remark("fragment-dropped", f"{self.size} bytes of a message are dropped", "fragment.ext_drop")
            self.clear()
            return None
        if payload is None or self.broken:
            self.clear(broken=payload is None or more)
            return None
        return self.add(message, payload, frame, more)

    def add(self, message: DecodedMessage, payload: bytes, frame: int, more: bool) -> Assembled | None:
        """Adds a piece."""
        self.pieces.append(payload)
        self.size += len(payload)
        if not self.frames or self.frames[-1] != frame:
            self.frames.append(frame)
        if self.size > LARGEST:
            message.remark("fragment-too-large", f"the message has {self.size} bytes and hasn't ended")
            self.clear(broken=more)
            return None
        if more:
            return None
        out = Assembled(b"".join(self.pieces), list(self.frames), len(self.pieces), [], message.row)
        self.clear()
        return out
