"""Scouting: which HELLO answers which SCOUT (notes 5)."""

from zdissect.dissection import Dissection
from zdissect.engine.messages import DecodedMessage
from zdissect.records import Endpoint
from zdissect.session.requests import answers

PATIENCE_NS = 30 * 10**9
"""A HELLO later than this doesn't answer the SCOUT: SCOUTs are repeated every 8 seconds or more often."""


class Discovery:
    """Who sent a SCOUT, for which roles, and in which frame."""

    def __init__(self, most: int) -> None:
        """`most`: so many senders are remembered, the latest."""
        self.most = most
        self.asked: dict[Endpoint, tuple[int, int, str]] = {}

    def feed(self, message: DecodedMessage, item: Dissection) -> None:
        """Takes a SCOUT or HELLO."""
        row = message.row
        src, dst = item.flow.ends if item.direction == 0 else item.flow.ends[::-1]
        if row.get("zid") is not None:
            row["src_zid"] = row["zid"]
        if row["message"] == "SCOUT":
            self.asked.pop(src, None)
            self.asked[src] = item.frame.number, item.frame.now_ns, row.get("whatami", "")
            if len(self.asked) > self.most:
                del self.asked[next(iter(self.asked))]
            return
        row["src_role"] = row.get("whatami")
        known = self.asked.get(dst)
        if known is None or item.frame.now_ns - known[1] > PATIENCE_NS:
            message.remark("hello-unasked", "no SCOUT from its receiver")
        else:
            answers(row, known[0], item.frame.now_ns - known[1])
            if row.get("whatami") and row["whatami"] not in known[2].split("|"):
                message.remark("hello-role", f"a {row['whatami']} answers a SCOUT for {known[2]}", "hello.packed")
        if not message.flag("L") or message.value("hello.count") == 0:
            message.remark("hello-no-locators", "no locators")

    def forget(self, now_ns: int) -> set[Endpoint]:
        """Forgets SCOUTs that can't be answered any more; returns the senders of the others."""
        self.asked = {src: asked for src, asked in self.asked.items() if now_ns - asked[1] <= PATIENCE_NS}
        return {*self.asked}
