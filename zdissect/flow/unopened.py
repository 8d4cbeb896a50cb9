"""Frames in which something before TCP or UDP can't be opened: counted by file and reason."""

from collections import Counter

from zdissect.flow.protocol_numbers import BACKGROUND

MOST_KINDS = 256
"""Most reasons that are counted separately for a file; forged EtherTypes must not fill the memory."""
OTHERS = "others"


class Unopened:
    """Counts frames without a segment or datagram, by reason: "ARP", "link type 147 (USER0)"..."""

    def __init__(self) -> None:
        self.files: dict[str, Counter[str]] = {}
        """By `Frame.source`."""
        self.last = ""
        """The reason that was counted last."""

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
    """The kinds without those that are ordinary on any network and never carry Zenoh: ARP, ICMP..."""
    return Counter({what: frames for what, frames in kinds.items() if what not in BACKGROUND})
