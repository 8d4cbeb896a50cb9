"""The ports (notes 3.1 and 5) and the EtherType (notes 3.6) of Zenoh."""

ZENOH_PORT = 7447
SCOUTING_PORT = 7446

RAW_ETHERTYPES = frozenset({0xE072, 0x72E0})
"""EtherType of zenoh-pico's raw Ethernet: 0x72e0 in the byte order of the sender, which is nearly always little-endian
(notes 3.6)."""
