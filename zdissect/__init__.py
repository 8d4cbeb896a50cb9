"""zdissect: a dissector for the Zenoh wire protocol (version 9, Zenoh 1.0 and later)."""

__version__ = "0.1.0"
