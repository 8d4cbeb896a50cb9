"""Link state: which node an index stands for (notes 7.4)."""

from dataclasses import dataclass, field

from zdissect.engine.messages import DecodedMessage
from zdissect.grammar.primitives import zid_text


@dataclass(slots=True)
class Graph:
    """The network as one side describes it: the nodes by its indices."""

    zids: dict[int, str] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The memory that it takes."""
        return 200 * (len(self.zids) + len(self.versions))

    def shrink(self) -> None:
        """Forgets all, because there is too much to be remembered."""
        self.zids.clear()
        self.versions.clear()

    def feed(self, message: DecodedMessage, complete: bool) -> None:
        """Takes a link state message."""
        psid: int | None = None
        named = False
        for span_field, _, start, stop, value in message.spans():
            name = span_field.path.removeprefix("zenoh.oam.link_state.nodes.")
            if name == "options":
                psid = None
            elif name == "psid":
                psid, named = value, value in self.zids
            elif name == "zid" and psid is not None:
                self.zids[psid] = zid_text(value)
                named = True
            elif name == "sn" and psid is not None:
                if value < self.versions.get(psid, 0):
                    text = f"entry {psid} has version {value}, {self.versions[psid]} came before"
                    message.tape.remarks.append(("link-state-old", start, stop, text))
                self.versions[psid] = max(value, self.versions.get(psid, 0))
            elif name in ("whatami", "link_count") and psid is not None and not named and complete:
                message.tape.remarks.append(
                    ("psid-unknown", start, stop, f"the ZenohID of node {psid} was never given")
                )
                named = True
