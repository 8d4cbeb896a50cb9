"""Goals of actions: from the calls and messages of their parts. A goal is known by its UUID.

Where UUIDs and states are in the parts, the design of actions says: so no definition of the action is needed.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zdissect.ros2.attachment import RosAttachment
from zdissect.ros2.calls import RosCall
from zdissect.ros2.graph import Sighting
from zdissect.ros2.rmw_keys import RosKey

STATUS = {
    0: "unknown", 1: "accepted", 2: "executing", 3: "canceling", 4: "succeeded", 5: "canceled", 6: "aborted",
}  # fmt: skip
"""action_msgs/msg/GoalStatus."""
OVER = ("succeeded", "canceled", "aborted")
CANCEL_CODES = {0: "accepted", 1: "rejected", 2: "unknown goal", 3: "goal terminated"}
"""action_msgs/srv/CancelGoal."""

MOST_GOALS = 100_000
MOST_STATES = 64
_CDR_HEADER = 4
_UUID_BYTES = 16
_UUID = slice(_CDR_HEADER, _CDR_HEADER + _UUID_BYTES)
_TIME_BYTES, _TIME_ALIGNMENT = 8, 4


@dataclass(slots=True, eq=False)
class RosGoal:
    """A goal."""

    key: RosKey
    """Of the part of the action that first told of it."""
    goal_id: str
    send: RosCall | None = None
    result: RosCall | None = None
    cancels: list[RosCall] = field(default_factory=list)
    states: list[tuple[str, int, int]] = field(default_factory=list)
    """State, frame and time of each change that was seen."""
    feedback: int = 0
    feedback_frames: tuple[int, int] | None = None
    """First and last message with feedback."""

    @property
    def accepted(self) -> bool | None:
        """Whether the server took it; None: not known."""
        payload = self.send.answer_payload if self.send is not None else None
        return bool(payload[_CDR_HEADER]) if payload is not None and len(payload) > _CDR_HEADER else None

    @property
    def status(self) -> str | None:
        """Its last known state; `rejected` if it wasn't accepted."""
        if self.accepted is False:
            return "rejected"
        payload = self.result.answer_payload if self.result is not None else None
        told = STATUS.get(payload[_CDR_HEADER]) if payload is not None and len(payload) > _CDR_HEADER else None
        if told is not None and told != "unknown":
            return told
        if self.states:
            return self.states[-1][0]
        return "accepted" if self.accepted else None

    def reached(self, state: str, seen: Sighting) -> None:
        """Takes a state that it is in."""
        if len(self.states) < MOST_STATES and (not self.states or self.states[-1][0] != state):
            self.states.append((state, seen.frame, seen.ts_ns))

    def entry(self, node: str | None, now_ns: int) -> dict[str, Any]:
        """As JSON has it."""
        send, result = self.send, self.result
        asked = send.request.value if send is not None else None
        answer = result.response.value if result is not None and result.response is not None else None
        first = send.asked if send is not None else None
        return {
            "action": self.key.action, "type": self.type, "domain": self.key.domain, "goal_id": self.goal_id,
            "node": node, "goal": asked.get("goal") if asked else None, "accepted": self.accepted,
            "status": self.status, "result": answer.get("result") if answer else None,
            "states": [{"status": state, "frame": frame, "ts_ns": ts_ns} for state, frame, ts_ns in self.states],
            "feedback": self.feedback, "feedback_frames": list(self.feedback_frames or ()) or None,
            "cancels": [_cancel(call) for call in self.cancels],
            "frame": first.frame if first else None, "ts_ns": first.ts_ns if first else None,
            "accepted_frame": send.answered.frame if send is not None and send.answered else None,
            "result_frame": result.answered.frame if result is not None and result.answered else None,
            "took_ns": result.answered.ts_ns - first.ts_ns if first and result and result.answered else None,
            "send_state": send.state(now_ns) if send is not None else None,
            "result_state": result.state(now_ns) if result is not None else None,
        }  # fmt: skip

    @property
    def type(self) -> str | None:
        """The type of the action, where a part tells it: `pkg/action/T`."""
        name = self.send.key.type if self.send is not None else self.key.type
        for suffix in ("_SendGoal", "_GetResult", "_FeedbackMessage"):
            name = name.removesuffix(suffix)
        return name if "/action/" in name else None


def _cancel(call: RosCall) -> dict[str, Any]:
    """A cancellation as JSON has it."""
    return {"frame": call.asked.frame, "ts_ns": call.asked.ts_ns, "answer": _cancel_code(call)}


def _cancel_code(call: RosCall) -> str | None:
    """What the server said to a cancellation."""
    payload = call.answer_payload
    if payload is None or len(payload) <= _CDR_HEADER:
        return None
    return CANCEL_CODES.get(payload[_CDR_HEADER], str(payload[_CDR_HEADER]))


class RosGoals:
    """Collects goals: fed with the messages of actions as they come, with their calls at the end."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, str, str], RosGoal] = {}
        self.unlisted = 0

    def goal(self, key: RosKey, uuid: bytes) -> RosGoal | None:
        """A goal; None if there is no room for it."""
        if len(uuid) < _UUID_BYTES or not any(uuid):
            return None
        name = key.domain, key.action, uuid.hex()
        known = self.known.get(name)
        if known is None:
            if len(self.known) >= MOST_GOALS:
                self.unlisted += 1
                return None
            known = self.known[name] = RosGoal(key, uuid.hex())
        return known

    def message(self, key: RosKey, attachment: RosAttachment, payload: bytes, first: Sighting) -> None:
        """Takes a message on a topic of an action."""
        part = key.name.rpartition("/")[2]
        if part == "feedback" and (goal := self.goal(key, payload[_UUID])) is not None:
            goal.feedback += 1
            goal.feedback_frames = (goal.feedback_frames or (first.frame, 0))[0], first.frame
        elif part == "status":
            for uuid, status in _statuses(payload):
                goal = self.goal(key, uuid)
                state = STATUS.get(status, str(status))
                if goal is not None:
                    goal.reached(state, first)

    def report(self, calls: Iterable[RosCall]) -> list[RosGoal]:
        """The goals, with all that was called for them, in the order in which they came."""
        for call in calls:
            part = call.key.name.rpartition("/")[2]
            if not call.key.action or part not in ("send_goal", "get_result", "cancel_goal"):
                continue
            goal = self.goal(call.key, call.payload[_UUID])
            if goal is None:
                continue
            if part == "send_goal":
                goal.send = call
            elif part == "get_result":
                goal.result = call
            elif call not in goal.cancels:
                goal.cancels.append(call)
        return sorted(self.known.values(), key=lambda goal: goal.send.asked.ts_ns if goal.send is not None else 0)


def _statuses(payload: bytes) -> list[tuple[bytes, int]]:
    """UUIDs and states of a GoalStatusArray: 16 bytes, a time at the next multiple of 4 (8 bytes), a state (1 byte)."""
    if len(payload) < 2 * _CDR_HEADER:
        return []
    (count,) = struct.unpack_from("<I" if payload[1] else ">I", payload, _CDR_HEADER)
    at, out = 2 * _CDR_HEADER, list[tuple[bytes, int]]()
    while len(out) < count:
        state = -(-(at + _UUID_BYTES) // _TIME_ALIGNMENT) * _TIME_ALIGNMENT + _TIME_BYTES
        if state >= len(payload):
            break
        out.append((payload[at : at + _UUID_BYTES], payload[state]))
        at = state + 1
    return out
