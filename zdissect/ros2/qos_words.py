"""The QoS of an endpoint in its liveliness token: `<reliability>:<durability>:<history>,<depth>:...` (docs/ros2.md).

What has rmw_zenoh's default is left out: reliable, volatile, keep last 42, no deadline, no lifespan, automatic.
"""

from typing import Any, NamedTuple

_RELIABILITY = {"": "reliable", "0": "system_default", "1": "reliable", "2": "best_effort", "3": "unknown"}
_DURABILITY = {"": "volatile", "0": "system_default", "1": "transient_local", "2": "volatile", "3": "unknown"}
_HISTORY = {"": "keep_last", "0": "system_default", "1": "keep_last", "2": "keep_all", "3": "unknown"}
_LIVELINESS = {
    "": "automatic", "0": "system_default", "1": "automatic", "2": "manual_by_node", "3": "manual_by_topic",
    "4": "unknown",
}  # fmt: skip
DEFAULT_DEPTH = 42

_INFINITE = (9223372036, 854775807)
"""Seconds and nanoseconds of the longest time there is: none at all. Each of them is left out by itself."""


class RosQos(NamedTuple):
    """A QoS profile. Durations are nanoseconds; None: infinite."""

    reliability: str = "reliable"
    durability: str = "volatile"
    history: str = "keep_last"
    depth: int = DEFAULT_DEPTH
    deadline_ns: int | None = None
    lifespan_ns: int | None = None
    liveliness: str = "automatic"
    lease_ns: int | None = None

    def entry(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "reliability": self.reliability, "durability": self.durability, "history": self.history,
            "depth": self.depth, "deadline_ns": self.deadline_ns, "lifespan_ns": self.lifespan_ns,
            "liveliness": self.liveliness, "liveliness_lease_ns": self.lease_ns,
        }  # fmt: skip

    def text(self) -> str:
        """In the words of `ros2 topic info -v`, in short."""
        keep = f"keep last {self.depth}" if self.history == "keep_last" else self.history.replace("_", " ")
        parts = [self.reliability.replace("_", " "), self.durability.replace("_", " "), keep]
        for name, value in (("deadline", self.deadline_ns), ("lifespan", self.lifespan_ns), ("lease", self.lease_ns)):
            if value is not None:
                parts.append(f"{name} {value / 1e9:g} s")
        if self.liveliness != "automatic":
            parts.append(self.liveliness.replace("_", " "))
        return ", ".join(parts)


def parse_qos(text: str) -> RosQos | None:
    """The profile that a token's chunk says; None if it isn't one."""
    parts = text.split(":")
    if len(parts) != 6:
        return None
    reliability, durability, history, *times = parts
    kind, _, depth = history.partition(",")
    liveliness, _, lease = times[2].partition(",")
    try:
        return RosQos(
            _RELIABILITY.get(reliability, reliability), _DURABILITY.get(durability, durability),
            _HISTORY.get(kind, kind), int(depth or DEFAULT_DEPTH), _duration(times[0]), _duration(times[1]),
            _LIVELINESS.get(liveliness, liveliness), _duration(lease),
        )  # fmt: skip
    except ValueError:
        return None


def _duration(text: str) -> int | None:
    """Nanoseconds from `seconds,nanoseconds`; None: infinite."""
    seconds, _, rest = text.partition(",")
    pair = int(seconds or _INFINITE[0]), int(rest or _INFINITE[1])
    return None if pair == _INFINITE else pair[0] * 10**9 + pair[1]
