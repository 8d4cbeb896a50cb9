"""The column `fields`: a whole message as JSON, as nested nodes."""

from zdissect.dissection import Dissection
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Tape
from zdissect.output.nested import derived, nodes
from zdissect.output.printable import dumps


def message_json(item: Dissection, message: DecodedMessage) -> str:
    """The nodes of a message; positions are those in the buffer. What a FRAME carries has its own rows."""
    tape = item.tape
    part = Tape(tape.data, tape.start, tape.stop, list(message.spans()), [])
    (root, *rest) = nodes(part)
    root["derived"] = derived(message.shared)
    if rest:  # fields of the message that come after a message inside it
        root.setdefault("children", []).extend(rest)
    return dumps(root)
