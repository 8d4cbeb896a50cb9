"""Columns and rows of the tables that `zdissect ros2` shows people."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from zdissect.listing.listing import columns
from zdissect.ros2.content import summary
from zdissect.ros2.naming import ros_name
from zdissect.ros2.rmw_keys import action_of

Entry = dict[str, Any]

NODES = columns("""
full_name        text    Node!          -
domain           number  Domain!        -
enclave          text    Enclave        -
publishers       number  Publishers     -
subscriptions    number  Subscriptions  -
service_servers  number  Servers        -
service_clients  number  Clients        -
action_servers   number  Action_servers -
action_clients   number  Action_clients -
zid              zid     ZenohID        -
addresses        list    Addresses      -
since_ts_ns      time    From           -
until_ts_ns      time    Until          -
""")
TOPICS = columns("""
name           text      Topic!         -
domain         number    Domain         -
type           text      Type           -
hash           text      Type_hash      -
publishers     list      Publishers!    -
subscriptions  list      Subscriptions! -
messages       number    Messages!      -
bytes          bytes     Payload        -
rate_hz        rate      Rate           -
missing        number    Missing        -
latency        duration  Latency        -
last           said      Last           -
""")
ENDPOINTS = columns("""
kind   text    Endpoint!   -
name   text    Name!       -
node   text    Node!       -
domain number  Domain      -
qos    long    QoS         -
hash   text    Type_hash   -
zid    zid     ZenohID     -
""")
SERVICES = columns("""
name      text      Service!  -
domain    number    Domain    -
type      text      Type!     -
servers   list      Servers!  -
clients   list      Clients!  -
calls     number    Calls!    -
answered  number    Answered  -
late      number    Late      -
errors    number    Errors    -
none      number    Unanswered  -
longest   duration  Longest   -
""")
CALLS = columns("""
frame     number    Frame!    -
ts_ns     time      Time      -
service   text      Service!  -
node      text      Client    -
seq       number    Number    -
request   said      Request!  -
state     text      State!    -
took_ns   duration  After!    -
response  said      Response! -
""")
ACTIONS = columns("""
name      text      Action!   -
domain    number    Domain    -
type      text      Type!     -
servers   list      Servers!  -
clients   list      Clients!  -
goals     number    Goals!    -
""")
GOALS = columns("""
frame     number    Frame!    -
ts_ns     time      Time      -
action    text      Action!   -
node      text      Client    -
goal_id   zid       Goal      -
goal      said      Asked     -
status    text      Status!   -
feedback  number    Feedback  -
took_ns   duration  After!    -
result    said      Result    -
""")


class RosNames:
    """Names of ROS 2 instead of keys, unless several keys have the same name.

    Args:
        found: Rows or reports with these keys, as `key_expr`.
    """

    def __init__(self, found: Any) -> None:
        names = {key: ros_name(key) for key in set(_keys(found))}
        counts = Counter(names.values())
        self.names = {key: name for key, name in names.items() if name is not None and counts[name] == 1}

    def of(self, found: Any) -> Any:
        """The same rows or reports with names."""
        names = self.names
        if not names:
            return found
        if isinstance(found, list):
            return [self.of(one) for one in found]
        if not isinstance(found, dict):
            return found
        return {
            column: names.get(one, one) if column in _KEYS and isinstance(one, str) else self.of(one)
            for column, one in found.items()
        }


_KEYS = ("key_expr", "subscriber_key")
"""Columns that hold keys."""


def _keys(found: Any) -> Iterator[str]:
    """The keys in rows or reports."""
    for one in found if isinstance(found, list) else found.values() if isinstance(found, dict) else ():
        yield from _keys(one)
    if isinstance(found, dict) and isinstance(key := found.get("key_expr"), str):
        yield key


def without_actions(entries: list[Entry]) -> list[Entry]:
    """Topics or services without the parts of actions."""
    return [entry for entry in entries if not action_of(entry["name"])]


def short_hash(digest: str) -> str:
    """A type hash in short."""
    return f"{digest[:15]}…" if len(digest) > 32 else digest


def in_short(value: Any) -> str | None:
    return summary(value) if value is not None else None


def service_row(entry: Entry) -> Entry:
    """The row of a service."""
    states = [call["state"] for call in entry["calls"]]
    return entry | {
        "servers": [one["node"] for one in entry["service_servers"]],
        "clients": [one["node"] for one in entry["service_clients"]],
        "calls": len(states), "answered": states.count("answered"), "late": states.count("late") or None,
        "errors": states.count("error") or None,
        "none": sum(state in ("timed out", "no answer", "open") for state in states) or None,
        "longest": max((call["took_ns"] for call in entry["calls"] if call["took_ns"] is not None), default=None),
    }  # fmt: skip


def call_row(call: Entry) -> Entry:
    """The row of a call."""
    answer = in_short(call["response"]) if call["error"] is None or call["response"] is not None else call["error"]
    return call | {"request": in_short(call["request"]), "response": answer}


def action_row(entry: Entry) -> Entry:
    """The row of an action."""
    return entry | {"goals": len(entry["goals"])}


def goal_row(goal: Entry) -> Entry:
    """The row of a goal."""
    return goal | {"goal": in_short(goal["goal"]), "result": in_short(goal["result"])}
