"""What anonymizing has done, in numbers and words."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Account:
    """What was replaced, and what was overwritten because it isn't understood."""

    frames: int = 0
    messages: int = 0
    """Messages whose fields were replaced one by one."""
    undecoded: int = 0
    """Bytes of units that no field owns."""
    skipped: int = 0
    """Bytes of Zenoh's streams that belong to no unit."""
    blocks: int = 0
    """Compressed batches that couldn't be compressed to the same size."""
    foreign: int = 0
    """Payload bytes of conversations that aren't Zenoh."""
    unwritten: int = 0
    """Frames of TCP or UDP whose headers couldn't be written, so that they aren't dissected any more."""
    headers: Counter[str] = field(default_factory=Counter)
    """Frames without a TCP segment or UDP datagram, of which at most the first headers are left, by why."""

    def lines(self) -> list[str]:
        """Sentences for people."""
        out = [f"{self.frames} frames, {self.messages} messages: keys, ids, addresses, texts and payloads replaced"]
        overwritten = (
            (self.foreign, "payload bytes that aren't Zenoh"),
            (self.skipped, "bytes of Zenoh's streams that belong to no batch"),
            (self.undecoded, "bytes of batches that couldn't be decoded"),
            (
                self.unwritten,
                "frames whose link layer or tunnel may name somebody: what they hold is lost",
            ),
            (self.blocks, "compressed batches that couldn't be made as long as they were"),
        )
        out += [f"overwritten: {number} {what}" for number, what in overwritten if number]
        if self.headers:
            kinds = ", ".join(f"{number} {what}" for what, number in self.headers.most_common())
            out.append(f"overwritten: frames without TCP or UDP, but for their first headers: {kinds}")
        return out
