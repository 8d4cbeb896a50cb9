"""The options of a conversion."""

from dataclasses import dataclass, field

from zdissect.limits import Limits, Options


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a conversion, independent of the captures. Can be pickled."""

    tcp_ports: frozenset[int] = frozenset()
    """TCP ports whose connections are always taken for Zenoh."""
    udp_ports: frozenset[int] = frozenset()
    """UDP ports whose datagrams are always taken for Zenoh."""
    payload: int | None = None
    """Bytes of each payload that are kept; None for all, -1 leaves the column null."""
    fields: bool = False
    """Whether the column `fields` is filled."""
    filter: str = ""
    """The display filter that rows of `messages` must match; empty: all are kept."""
    ros2: bool = False
    """Whether messages have the columns of ROS 2."""
    contents: bool = True
    """Whether the column with contents is filled then."""
    definitions: tuple[tuple[str, str], ...] = ()
    """Definitions of one's own for it: type and text."""
    batch_rows: int = 8192
    batch_bytes: int = 32 << 20
    """The size of a batch: most rows, or most bytes of messages."""
    limits: Limits = field(default_factory=Limits)
    """How much memory what is kept of a capture may take."""

    def options(self) -> Options:
        """The options of the pipeline."""
        return Options(self.tcp_ports, self.udp_ports, history=True, limits=self.limits)
