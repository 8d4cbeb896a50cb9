"""`zdissect top --json`: an object for each table, a line each.

- `ts_ns`: time of the capture, nanoseconds since 1970; `final`: whether this is the end.
- `frames`, `messages`: so far; `values`: those of PUSH and replies, with `rate_hz` and `bytes_per_s` now.
- `findings`: how many of each code; `last_finding`: `frame`, `code`, `severity`, `message`.
- `keys`: `key_expr`, `rate_hz`, `bytes_per_s`, `messages`, `bytes` of payloads, `age_ns` since the last one, its
  `encoding`, the first bytes of its `value` in hex and `value_bytes`, how many it has (null for a DEL).
- `more_keys` that `--top` leaves out; `dropped_keys`: silent for longest, and not kept.
- `links`: `flow_id`, and two `ends` (0 is the opener): `role`, `zid`, `address`, `messages` sent.
"""

import sys
from typing import Any

from zdissect.output.printable import dumps
from zdissect.session.model import Link
from zdissect.stats.activity import Activity, KeyActivity
from zdissect.table import endpoint

from .top_screen import Printed, in_order


class JsonLines(Printed):
    """One object after the other; all keys unless so many are asked for."""

    def show(self, activity: Activity, links: list[Link], frames: int, now_ns: int, final: bool) -> None:
        """Prints how it stands."""
        known = in_order(activity, self.order, now_ns)
        shown = known[: self.rows or None]
        rate, size = activity.total.rates(now_ns)
        last = activity.last_finding
        entry = {
            "ts_ns": now_ns, "final": final, "frames": frames, "messages": activity.messages,
            "values": activity.total.messages, "rate_hz": rate, "bytes_per_s": size,
            "findings": dict(activity.findings),
            "last_finding": None if last is None else {
                "frame": last.item.frame.number, "code": last.rule.code, "severity": last.rule.severity,
                "message": last.message,
            },
            "keys": [_key(key, now_ns) for key in shown],
            "more_keys": len(known) - len(shown), "dropped_keys": activity.dropped,
            "links": [{"flow_id": link.flow.id, "ends": [_end(link, side) for side in (0, 1)]} for link in links],
        }  # fmt: skip
        sys.stdout.write(f"{dumps(entry)}\n")
        sys.stdout.flush()


def _key(key: KeyActivity, now_ns: int) -> dict[str, Any]:
    rate, size = key.rates(now_ns)
    there = key.value_size is not None
    return {
        "key_expr": key.name, "rate_hz": rate, "bytes_per_s": size, "messages": key.messages, "bytes": key.size,
        "age_ns": now_ns - key.last_ns, "encoding": key.encoding or None,
        "value": key.value.hex() if there else None, "value_bytes": key.value_size,
    }  # fmt: skip


def _end(link: Link, direction: int) -> dict[str, Any]:
    known = link.who(direction)
    return {
        "role": known.get("src_role"), "zid": known.get("src_zid"), "address": endpoint(link.flow.ends[direction]),
        "messages": link.messages[direction],
    }  # fmt: skip
