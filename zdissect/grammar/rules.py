"""The rules of findings: here, those that decoding alone can make. Each has a code, a severity, a group, a text
and its source.

Sources: `notes N` is a section of docs/wire-notes.md, `notes 9 no. K` one of its list of checks; a page is named
with its section. "code" means the behaviour of the released implementation.
"""

from zdissect.grammar.file_rules import FILE_RULES
from zdissect.grammar.rule import CAPTURE, ERROR, MALFORMED, NOTE, PROTOCOL, WARNING, Rule
from zdissect.grammar.state_rules import STATE_RULES

_RULES = (
    Rule(
        "truncated", ERROR, MALFORMED,
        "A field or region runs past the end of what contains it. The sender wrote a wrong length, or less than it "
        "announced.",
        "code; notes 9 no. 2",
    ),
    Rule(
        "trailing-bytes", ERROR, MALFORMED,
        "Bytes are left over in a region after its structure has ended. They belong to no field; the receiver fails "
        "on them or ignores them.",
        "code; notes 9 no. 2",
    ),
    Rule(
        "unknown-message", ERROR, MALFORMED,
        "The id in the header byte isn't that of a message allowed here. The implementation fails to decode "
        "it and closes the link.",
        "code; notes 9 no. 1",
    ),
    Rule(
        "reserved-encoding", ERROR, MALFORMED,
        "The two ENC bits of an extension or an OAM are 11, which has no meaning, so the length of the body can't be "
        "known.",
        "code; notes 2.1 and 9 no. 3",
    ),
    Rule(
        "unknown-mandatory-extension", ERROR, PROTOCOL,
        "An extension with M=1 isn't known for this message: a receiver must not process the message. The "
        "implementation closes the link.",
        "site; code; notes 9 no. 3",
    ),
    Rule(
        "unknown-extension", NOTE, PROTOCOL,
        "An extension with M=0 isn't known for this message. Receivers skip it.",
        "site; notes 9 no. 4",
    ),
    Rule(
        "extension-form", WARNING, PROTOCOL,
        "The id of this extension is known for this message, but with a different encoding or M bit. Receivers "
        "compare all seven bits and treat it as unknown.",
        "code; notes 2.1",
    ),
    Rule(
        "vle-overflow", ERROR, MALFORMED,
        "A variable-length integer is larger than the field's nominal width. Receivers refuse it.",
        "code; notes 1.1 and 9 no. 5",
    ),
    Rule(
        "vle-wraps", WARNING, PROTOCOL,
        "A variable-length integer is larger than the Rust implementation can hold in this field: it keeps the low "
        "bits and goes on, while zenoh-pico refuses the message. The value shown is the one on the wire.",
        "code; notes 1.1 and 9 no. 5",
    ),
    Rule(
        "vle-overlong", WARNING, MALFORMED,
        "A variable-length integer uses more bytes than it needs. Receivers accept it, but no known sender writes it.",
        "code; notes 1.1 and 9 no. 5",
    ),
    Rule(
        "reserved-bits", WARNING, PROTOCOL,
        "Reserved bits are set. They must be zero; receivers ignore them.",
        "pages; notes 9 no. 6 and 13 no. 24",
    ),
    Rule(
        "invalid-value", ERROR, PROTOCOL,
        "The value has no meaning in this field; receivers fail to decode it.",
        "code; notes 9 no. 7 and 8",
    ),
    Rule(
        "scout-nothing", WARNING, PROTOCOL,
        "SCOUT asks for no role at all: nobody will answer.",
        "code; notes 9 no. 7",
    ),
    Rule(
        "zero-zid", ERROR, PROTOCOL,
        "A ZenohID is all zeros, which is invalid.",
        "code; notes 1.3 and 9 no. 7",
    ),
    Rule(
        "zid-length", ERROR, PROTOCOL,
        "A ZenohID must have 1 to 16 bytes.",
        "code; notes 1.3 and 9 no. 8",
    ),
    Rule(
        "invalid-utf8", ERROR, MALFORMED,
        "A text isn't valid UTF-8. The Rust implementation refuses it; zenoh-pico doesn't check.",
        "code; notes 1.2 and 9 no. 8",
    ),
    Rule(
        "binary-text", NOTE, PROTOCOL,
        "Bytes that aren't UTF-8 where text is usual, such as in the schema of an encoding. Any bytes are legal here.",
        "code; notes 1.2",
    ),
    Rule(
        "locator", WARNING, PROTOCOL,
        "A locator isn't of the form protocol/address[?key=value;...] with its keys in order. Since 1.10 the Rust "
        "implementation refuses it, and the whole message with it; earlier releases and zenoh-pico accept it.",
        "code; notes 1.7",
    ),
    Rule(
        "text-length", ERROR, PROTOCOL,
        "A text is longer (or shorter) than its field allows.",
        "code; notes 9 no. 8",
    ),
    Rule(
        "version", WARNING, PROTOCOL,
        "The protocol version isn't 0x09 (Zenoh 1.0 and later). 0x08 is Zenoh 0.10 and 0.11, with the same "
        "headers but other bodies: what follows is read as version 9 and may be wrong.",
        "pages; notes 9 no. 9 and 10",
    ),
    Rule(
        "unknown-close-reason", WARNING, PROTOCOL,
        "The reason of a CLOSE isn't one of the known ones.",
        "site; notes 4.1 and 9 no. 29",
    ),
    Rule(
        "unknown-consolidation", WARNING, PROTOCOL,
        "The consolidation mode isn't one of the four known; receivers read it as Auto.",
        "code; notes 7.1",
    ),
    Rule(
        "unknown-encoding", NOTE, PROTOCOL,
        "The encoding id has no name. Ids are a convention of the API, not negotiated.",
        "code; notes 1.5 and 9 no. 58",
    ),
    Rule(
        "zero-budget", WARNING, PROTOCOL,
        "The budget is 0, which isn't allowed. The implementation reads it as no budget.",
        "query#Budget Extension; notes 9 no. 39",
    ),
    Rule(
        "zero-expr-id", WARNING, PROTOCOL,
        "A key expression is declared with id 0, which stands for the global scope.",
        "code; notes 6.2 and 9 no. 42",
    ),
    Rule(
        "zero-stamp", ERROR, PROTOCOL,
        "The configuration of a timestamp stack is 0, which receivers refuse. Other values that name no known place "
        "to stamp are accepted.",
        "code; notes 2.3",
    ),
    Rule(
        "query-body-length", NOTE, PROTOCOL,
        "The declared length of a query body in shared memory is that of the data, not of the descriptor: a known bug "
        "of the Rust sender. The structure was followed instead.",
        "code; notes 2.3 and 13 no. 2",
    ),
    Rule(
        "extension-length", WARNING, PROTOCOL,
        "The declared length of an extension doesn't match its structure. The structure was followed, because the "
        "bytes after it then make sense. The Rust implementation ignores the declared length of a Timestamp, "
        "TimestampStack, SourceInfo, ResponderId and the QoS of a JOIN (and declared that of a Timestamp too small "
        "before July 2024); it fails on others, and so do other receivers.",
        "code; notes 2.1",
    ),
    Rule(
        "body-shm-alone", WARNING, PROTOCOL,
        "BodyShm of a QUERY isn't directly followed by Body. The Rust implementation reads whatever follows as Body "
        "and fails.",
        "code; notes 2.3",
    ),
    Rule(
        "request-body", WARNING, PROTOCOL,
        "A REQUEST carries PUT or DEL. zenoh-pico reads that, a leftover from early versions; the Rust implementation "
        "refuses it and closes the link.",
        "code; notes 7.1",
    ),
    Rule(
        "cut-by-capture", NOTE, CAPTURE,
        "The capture kept only the first bytes of this frame (snaplen): the rest was on the wire but isn't in the "
        "file. Capture with a larger snap length (tcpdump -s 0).",
        "capture",
    ),
    Rule(
        "torn-batch", NOTE, CAPTURE,
        "Part of a batch isn't in the capture. The captured part is shown; the rest is skipped, up to where the length "
        "of the batch says the next one starts.",
        "capture",
    ),
    Rule(
        "resynchronised", NOTE, CAPTURE,
        "Bytes were skipped up to the next place where batches chain: after a gap, where the capture starts in the "
        "middle of a stream, or where a stream doesn't begin with a batch.",
        "capture",
    ),
    Rule(
        "websocket", NOTE, CAPTURE,
        "A WebSocket carries something other than batches: text messages (those of Zenoh are binary), frames that "
        "break its protocol or use an extension, or bytes after its close.",
        "notes 3.1",
    ),
    Rule(
        "tcp-overlap", WARNING, CAPTURE,
        "A TCP segment repeats bytes of the stream with different content. The first copy is kept, as most receivers "
        "do.",
        "capture",
    ),
    Rule(
        "tcp-gap", WARNING, CAPTURE,
        "TCP segments with bytes of this stream aren't in the capture: the capturing program dropped them, or the "
        "capture started too late. The network need not have lost anything.",
        "capture",
    ),
    Rule(
        "stream-ends", NOTE, CAPTURE,
        "The stream or the capture ends in the middle of a batch.",
        "capture",
    ),
    Rule(
        "time-leap", NOTE, CAPTURE,
        "A capture time that doesn't fit those around it: a damaged record, a clock that was set, interfaces with "
        "different clocks, merged files. It is shown as it is, but doesn't count towards timeouts and leases. Also a "
        "time outside the years 1677 to 2262, which is null in the tables.",
        "capture",
    ),
    Rule(
        "serial-crc", ERROR, MALFORMED,
        "The CRC of a frame on a serial line doesn't match its data: the line damaged it, or the sender computes a "
        "different CRC. Receivers drop the frame. (The polynomial is that of CRC-32, used as if it were reflected.)",
        "code; notes 3.6",
    ),
    Rule(
        "serial-cobs", ERROR, MALFORMED,
        "Bytes between two zero bytes of a serial line aren't valid COBS: the beginning or the end of the frame is "
        "missing, or the line damaged it.",
        "code; notes 3.6",
    ),
)  # fmt: skip

RULES = {rule.code: rule for rule in (*_RULES, *STATE_RULES, *FILE_RULES)}
"""Every rule by its code: those of decoding, those that need the state of a session, those about files."""
