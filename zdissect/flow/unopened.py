"""Frames on whose way to TCP or UDP something isn't opened: counted, by file and by what it is."""

from collections import Counter

from zdissect.flow.protocol_numbers import BACKGROUND

MOST_KINDS = 256
"""Kinds that are told apart in a file; forged EtherTypes must not fill the memory."""
OTHERS = "others"


class Unopened:
    """Counts frames that gave neither a segment nor a datagram, by reason: "ARP", "link type 147 (USER0)"..."""

    def __init__(self) -> None:
        self.files: dict[str, Counter[str]] = {}
        """By `Frame.source`."""
        self.last = ""
        """What was counted last."""

    def add(self, source: str, what: str, frames: int = 1) -> None:
        """Count frames of a file."""
        self.last = what
        kinds = self.files.get(source)
        if kinds is None:
            kinds = self.files[source] = Counter()
        kinds[what if what in kinds or len(kinds) < MOST_KINDS else OTHERS] += frames

    def total(self) -> Counter[str]:
        """The frames of all files, by reason; the most frequent first."""
        total: Counter[str] = Counter()
        for kinds in self.files.values():
            total.update(kinds)
        return Counter(dict(total.most_common()))


def noteworthy(kinds: Counter[str]) -> Counter[str]:
    """Without what is ordinary on any network and never carries Zenoh: ARP, ICMP..."""
    return Counter({what: frames for what, frames in kinds.items() if what not in BACKGROUND})
