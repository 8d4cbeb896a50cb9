"""Link layers that we don't parse ourselves (radiotap, 802.11...): scapy finds the IP packet in the frame.

Slow (some hundred microseconds a frame, and scapy's import the first time), so it is used for rare link types only.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from zdissect.flow.protocol_numbers import ARP, WIRELESS_CONTROL, link_type

_DATA = 2
"""Type of an 802.11 data frame (management and control are below), and the bit that says "encrypted"."""
_PROTECTED = 0x40


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep scapy's advice and its dependencies' warnings off the screen: users couldn't do anything about them."""
    logger = logging.getLogger("scapy")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


@cache
def _scapy() -> tuple[dict[int, Any], tuple[Any, ...]]:
    """scapy's classes by link type, and its IP classes; empty where scapy can't be loaded."""
    try:
        with _quiet():
            import scapy.layers.all  # noqa: F401  (registers the link types)
            from scapy.config import conf
            from scapy.layers.inet import IP
            from scapy.layers.inet6 import IPv6
    except Exception:  # not installed, or broken on this machine: it costs these frames, not the whole run
        return {}, ()
    return dict(conf.l2types.num2layer), (IP, IPv6)


def find_ip(link: int, data: bytes) -> tuple[bytes, int] | str | None:
    """Find the IP packet in a frame of link type `link`.

    Returns the packet's bytes and where they start in `data` (-1 if scapy unpacked them); for a frame without IP, what
    it is; None if scapy doesn't know the link type. Never raises.
    """
    layers, packets = _scapy()
    link_layer = layers.get(link)
    if link_layer is None:
        return None
    try:
        with _quiet():
            frame = link_layer(data)
            for packet in packets:
                ip_layer = frame.getlayer(packet)
                if ip_layer is not None:
                    content = bytes(ip_layer.original)
                    return content, data.find(content)
            return _without_ip(frame) or f"{link_type(link)} without IP"
    except Exception:  # scapy's dissectors raise what they like
        return f"bad {link_type(link)}"


def _without_ip(frame: Any) -> str:
    """What a frame without IP is, if it is ordinary or encrypted; empty if unknown."""
    if frame.haslayer("ARP"):
        return ARP
    wireless = frame.getlayer("Dot11")
    if wireless is None:
        return ""
    if wireless.type < _DATA:
        return WIRELESS_CONTROL
    return "802.11 (encrypted)" if int(wireless.FCfield) & _PROTECTED else WIRELESS_CONTROL
