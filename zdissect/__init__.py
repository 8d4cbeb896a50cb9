"""zdissect: a dissector for the Zenoh wire protocol (version 9, Zenoh 1.0 and later).

    >>> import zdissect
    >>> zdissect.dissect(bytes.fromhex("3d 00 03 6b 2f 61 01 03 31 31 31"))[0]["put.payload"]
    b'111'

`dissect` reads bytes, `read_captures` reads files, `encode` writes bytes: docs/library.md. They and what they need are
imported when they are first used.
"""

__version__ = "0.1.0"

__all__ = ["CaptureError", "DissectedBytes", "DissectedMessage", "EncodeError", "PasteError", "dissect", "encode",
           "read_captures"]  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` has it too, but takes its time
    from zdissect.library import (
        CaptureError,
        DissectedBytes,
        DissectedMessage,
        EncodeError,
        PasteError,
        dissect,
        encode,
        read_captures,
    )


def __getattr__(name: str) -> object:
    """The names of the library, on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return globals().setdefault(name, getattr(import_module("zdissect.library"), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
