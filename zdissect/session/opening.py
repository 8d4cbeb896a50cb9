"""How links open: INIT and OPEN, what they negotiate, and their rules (notes 4.2)."""

import hashlib

from zdissect.engine.messages import DecodedMessage
from zdissect.flow.framing import UNKNOWN, Framing
from zdissect.grammar.enums import DEFAULT_BITS, RANGED
from zdissect.grammar.ports import SCOUTING_PORT
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE
from zdissect.grammar.transport import FIRST_PRIORITY, LAST_PRIORITY, LINK_TAG
from zdissect.session.handshake import STEPS, LinkEnd, Offer, Parameters
from zdissect.session.model import Link


def feed(link: Link, message: DecodedMessage, direction: int, whole: bool) -> Framing | None:
    """Takes an INIT or OPEN; returns the framing of this direction from its next batch on, if that changes.

    Args:
        whole: Its end is in the capture.
    """
    handshake, name = link.handshake, message.row["message"]
    step = STEPS.index(name)
    if step == 0:
        handshake.opener = direction
        _begin(link, message, direction)
    _order(link, message, direction, step)
    handshake.said[name] = message.data
    handshake.step = max(handshake.step, step + 1) if handshake.step or step == 0 else handshake.step
    end, other = handshake.ends[direction], handshake.ends[1 - direction]
    if name.startswith("INIT"):
        _init(message, end)
        handshake.partial = handshake.partial or not whole
        if name == "INIT_ACK" and not handshake.partial:
            _answer(link, message, end, other)
        return None
    return _open(link, message, end, other)


def _begin(link: Link, message: DecodedMessage, direction: int) -> None:
    """Takes an INIT_SYN: checks the port that it is sent to."""
    port = link.flow.ends[1 - direction].port
    if link.flow.link == "udp" and port == SCOUTING_PORT:
        message.remark("misplaced-message", f"INIT_SYN to port {port}, which is for scouting")
    if link.flow.replaces:
        message.remark("session-reopened", f"opened again from the same port: {link.flow.replaces} is over")


def _order(link: Link, message: DecodedMessage, direction: int, step: int) -> None:
    """Checks that the four messages come one after the other; on a datagram link they may be repeated."""
    handshake, name = link.handshake, message.row["message"]
    if step and step > handshake.step:
        heard = link.messages[1 - direction] > 0
        first = link.begins(direction) and (name == "OPEN_SYN" or link.begins(1 - direction))
        if (handshake.step and heard) or (first and not handshake.step):
            message.remark("handshake-order", f"{name} without {STEPS[step - 1]}")
    elif step < handshake.step and link.flow.link != "tcp" and handshake.said.get(name) == message.data:
        message.remark("handshake-repeated", f"{name} is repeated with the same bytes")
        handshake.step = 1 if step == 0 else handshake.step
    elif step < handshake.step:
        message.remark("handshake-order", f"{name} after {STEPS[handshake.step - 1]}")


def _init(message: DecodedMessage, end: LinkEnd) -> None:
    """Takes what both forms of INIT state."""
    row = message.row
    end.zid, end.role, end.version = row.get("zid"), row.get("whatami"), row.get("version")
    end.wire_zid = message.value("init.zid") or b""
    end.cookie = row.get("cookie")
    extensions = frozenset(ext["name"] for ext in row.get("extensions", ()) if ext["name"])
    end.offer = Offer(
        row.get("resolution_sn", DEFAULT_BITS), row.get("resolution_rid", DEFAULT_BITS),
        row.get("batch_size", DEFAULT_BATCH_SIZE), row.get("patch", 0), extensions,
    )  # fmt: skip
    if {"qos", "qos_link"} <= extensions:
        message.remark("qos-twice", "QoS and QoSLink together", "init.ext_qos_link")
    qos_link = message.value("init.ext_qos_link.value")
    if qos_link is not None and LINK_TAG.of(qos_link) & RANGED:
        end.priorities = FIRST_PRIORITY.of(qos_link), LAST_PRIORITY.of(qos_link)


def _answer(link: Link, message: DecodedMessage, end: LinkEnd, other: LinkEnd) -> None:
    """Takes an INIT_ACK, which may not answer more than was proposed. It counts even if the proposal wasn't seen."""
    handshake = link.handshake
    if other.zid is None:
        other = end
    asked, answered = other.offer, end.offer
    for what, field, most, value in (
        ("sn resolution", "resolution", asked.sn_bits, answered.sn_bits),
        ("request id resolution", "resolution", asked.rid_bits, answered.rid_bits),
        ("batch size", "batch_size", asked.batch_size, answered.batch_size),
        ("patch", "ext_patch", asked.patch, answered.patch),
    ):
        if handshake.step >= 2 and value > most:
            message.remark("ack-raises", f"{what} {value} answers {most}", f"init.{field}")
    if other is not end and end.zid is not None and end.zid == other.zid:
        message.remark("same-zid", f"both ends are {end.zid}", "init.zid")
    both = answered.extensions & asked.extensions
    handshake.agreed = Parameters(
        min(answered.sn_bits, asked.sn_bits), min(answered.rid_bits, asked.rid_bits),
        min(answered.batch_size, asked.batch_size), min(answered.patch, asked.patch),
        qos=all({"qos", "qos_link"} & offer.extensions for offer in (answered, asked)),
        low_latency="low_latency" in both, compression="compression" in both, multilink="multilink" in both,
        shm="shm" in both,
    )  # fmt: skip


def _open(link: Link, message: DecodedMessage, end: LinkEnd, other: LinkEnd) -> Framing:
    """Takes both forms of OPEN; returns the framing of what follows."""
    row = message.row
    end.lease_ms, end.initial_sn = row.get("lease_ms"), row.get("initial_sn")
    end.opened = True
    if row["message"] == "OPEN_SYN" and other.cookie is not None and row.get("cookie") not in (None, other.cookie):
        message.remark("cookie-mismatch", "the cookie isn't that of INIT_ACK", "open.cookie")
    agreed = link.handshake.agreed
    if agreed is None:
        return UNKNOWN
    if end.initial_sn is not None and end.initial_sn > agreed.sn_limit:
        text = f"initial_sn {end.initial_sn} is above 0x{agreed.sn_limit:x}"
        message.remark("initial-sn-range", text, "open.initial_sn")
    elif link.handshake.known and end.initial_sn != rust_initial_sn(end.wire_zid, other.wire_zid, agreed.sn_mask):
        text = "initial_sn isn't computed as in Rust"
        message.remark("initial-sn-foreign", text, "open.initial_sn")
    return Framing(0, agreed.compression, agreed.low_latency)


def rust_initial_sn(sender: bytes, receiver: bytes, mask: int) -> int:
    """initial_sn as the Rust implementation computes it: SHAKE128 of both wire ZenohIDs, masked (notes 4.2)."""
    return int.from_bytes(hashlib.shake_128(sender + receiver).digest(4), "little") & mask
