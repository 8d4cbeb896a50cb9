"""zdissect for other programs: bytes and captures to messages, values to bytes. docs/library.md has the examples.

This interface stays stable when the implementation changes. `zdissect` exports it.
"""

from zdissect.capture import CaptureError
from zdissect.engine.encoder_input import EncodeError
from zdissect.library.capture_messages import read_captures
from zdissect.library.dissected_bytes import DissectedBytes, dissect
from zdissect.library.dissected_message import DissectedMessage
from zdissect.library.encoding import encode
from zdissect.paste import PasteError

__all__ = ["CaptureError", "DissectedBytes", "DissectedMessage", "EncodeError", "PasteError", "dissect", "encode",
           "read_captures"]  # fmt: skip
