"""The rules of findings that need the state of a session. See `rules.py` for those of single messages."""

from zdissect.grammar.rule import CAPTURE, ERROR, MALFORMED, NOTE, PROTOCOL, SEQUENCE, WARNING, Rule

HANDSHAKE = (
    Rule("ack-raises", ERROR, PROTOCOL,
         "An INIT_ACK answers with more than the INIT_SYN proposed (resolution, batch size or patch). The opener "
         "gives up.", "code; notes 4.2 and 9 no. 10"),
    Rule("handshake-order", ERROR, PROTOCOL,
         "A handshake message is out of order. The order is INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK, once each.",
         "site; notes 4.2 and 9 no. 11"),
    Rule("handshake-refused", NOTE, PROTOCOL,
         "A connection ends during its handshake: with a CLOSE, whose reason may say why, or without one. After "
         "OPEN_SYN the cause is often authentication (the reason is then GENERIC); after INIT_SYN it is version, role "
         "or mode.", "site; notes 4.2"),
    Rule("handshake-repeated", NOTE, PROTOCOL,
         "A handshake message is repeated over UDP with the same bytes: its answer was lost, or late.", "notes 4.2"),
    Rule("session-reopened", NOTE, PROTOCOL,
         "A session is opened from the UDP port of an earlier session that nobody closed. That session is over; this "
         "is a new conversation.", "notes 4.2"),
    Rule("cookie-mismatch", ERROR, PROTOCOL,
         "OPEN_SYN doesn't return the cookie of INIT_ACK. The acceptor refuses it.",
         "message-reference#OPEN (0x02); notes 9 no. 12"),
    Rule("initial-sn-range", ERROR, PROTOCOL,
         "initial_sn doesn't fit the negotiated resolution, whose masks have 7, 14, 28 and 32 bits.",
         "message-reference#OPEN (0x02); notes 1.9 and 9 no. 13"),
    Rule("initial-sn-foreign", NOTE, PROTOCOL,
         "initial_sn isn't what the Rust implementation computes from the two ZenohIDs (SHAKE128): the sender is "
         "another implementation.", "code; notes 4.2 and 9 no. 14"),
    Rule("frame-before-open", ERROR, PROTOCOL,
         "A FRAME or FRAGMENT before its sender's OPEN: the session isn't established.", "code; notes 9 no. 15"),
    Rule("qos-twice", ERROR, PROTOCOL, "INIT has both the QoS and the QoSLink extension; only one of them is allowed.",
         "code; notes 9 no. 60"),
    Rule("same-zid", WARNING, PROTOCOL,
         "Both ends have the same ZenohID: a node connected to itself, or two nodes configured with the same id. The "
         "session is closed with reason 7.", "code; notes 9 no. 59"),
)  # fmt: skip

SEQUENCES = (
    Rule("sn-range", ERROR, SEQUENCE,
         "A sequence number is above the mask of the negotiated resolution. The receiver closes the link.",
         "code; notes 1.9 and 9 no. 16"),
    Rule("sn-duplicate", WARNING, SEQUENCE,
         "A sequence number is repeated in its channel and priority. The receiver drops the message silently.",
         "code; notes 4.5 and 9 no. 17"),
    Rule("sn-backward", WARNING, SEQUENCE,
         "A sequence number is older than the last one of its channel and priority. The receiver drops the message "
         "silently.", "code; notes 4.5 and 9 no. 17"),
    Rule("sn-gap", WARNING, SEQUENCE,
         "Sequence numbers are missing although the capture has no gap in the stream: messages were lost on the way, "
         "or by the sender. One extra number after a fragmented message is normal and isn't reported.",
         "code; notes 4.5 and 9 no. 18"),
    Rule("sn-gap-captured", NOTE, SEQUENCE,
         "Sequence numbers are missing, but so are bytes of the stream: the messages were sent, and the capture lost "
         "them.", "notes 9 no. 18"),
    Rule("sn-other-channel", WARNING, SEQUENCE,
         "A sequence number is the next one of the other channel: flag R is inverted, in this message and those after "
         "it, or in those before. Nothing is missing, but the receiver sees gaps and old numbers, and can't "
         "reassemble fragments.", "code; notes 4.5"),
    Rule("sn-first", WARNING, SEQUENCE,
         "The first sequence number of a channel isn't the initial_sn of OPEN, or the next_sn of JOIN.",
         "code; notes 9 no. 19"),
    Rule("priority-without-qos", ERROR, PROTOCOL,
         "A priority other than Data on a session that didn't negotiate QoS. The receiver closes the link.",
         "code; notes 4.5 and 9 no. 20"),
    Rule("priority-range", NOTE, PROTOCOL,
         "A priority outside the range that QoSLink stated for this link. The Rust implementation does this where no "
         "link has the priority and the reliability of the message.", "code; recorded; notes 9 no. 20"),
)  # fmt: skip

FRAGMENTS = (
    Rule("fragment-no-first", WARNING, SEQUENCE,
         "A chain of fragments begins without First although both sides have patch 1. The receiver drops it.",
         "code; notes 4.5 and 9 no. 21"),
    Rule("fragment-start-missing", NOTE, CAPTURE,
         "A chain of fragments began before the capture, or in bytes that the capture lost. It can't be reassembled.",
         "notes 4.5"),
    Rule("fragment-abandoned", NOTE, SEQUENCE,
         "A chain of fragments has no end: the sender gave up the message (congestion), and the next one starts.",
         "code; notes 4.5 and 9 no. 21"),
    Rule("fragment-hole", WARNING, SEQUENCE,
         "A sequence number is missing inside a chain of fragments. The receiver drops the whole message.",
         "code; notes 4.5 and 9 no. 21"),
    Rule("fragment-interrupted", WARNING, SEQUENCE,
         "A FRAME of the same channel and priority interrupts a chain of fragments.", "code; notes 9 no. 21"),
    Rule("fragment-too-large", WARNING, SEQUENCE, "A chain of fragments exceeds the size limit and is abandoned here.",
         "code; notes 4.5 and 9 no. 22"),
    Rule("fragment-dropped", NOTE, SEQUENCE, "The sender dropped the rest of a fragmented message (Drop).",
         "code; notes 4.5"),
)  # fmt: skip

FRAMINGS = (
    Rule("batch-size", ERROR, PROTOCOL,
         "A batch is longer than the negotiated batch size (which, on streams, includes the two bytes of length).",
         "pages; notes 3.1 and 9 no. 23"),
    Rule("compression", ERROR, MALFORMED,
         "A compressed batch can't be decompressed, or exceeds the negotiated batch size once it is.",
         "code; notes 3.2 and 9 no. 24"),
    Rule("length-prefix", ERROR, PROTOCOL,
         "A batch isn't framed as its link requires. On streams each has its length in front, in two bytes, "
         "little-endian (four after the OPEN of a low-latency link); datagrams and WebSocket messages have none. It "
         "was read as it was probably meant; receivers don't do that.", "code; notes 3.1"),
    Rule("misplaced-message", WARNING, PROTOCOL,
         "A message is sent over a link where it isn't expected: scouting over a stream, a handshake to the scouting "
         "port.", "code; notes 5"),
    Rule("other-protocol", WARNING, PROTOCOL,
         "Batches follow each other by their lengths, as in Zenoh, but hold no message of protocol 0x09: this is "
         "another protocol, or a version of Zenoh before 0.10.", "pages; notes 3.1"),
    Rule("limit", WARNING, CAPTURE,
         "The capture needs more memory than a limit allows, because it is very large or because somebody floods. What "
         "waits, or what is oldest, of those that take most was given up, so that what refers to it can't be "
         "explained. If it is no flood, allow more with `--limit`. Reported once for each limit. Reported, too, where "
         "a message holds more fields than any batch of 64 kB can: the rest of it isn't decoded.", "capture"),
    Rule("captured-twice", NOTE, CAPTURE,
         "The capture was made on several interfaces (tcpdump -i any) and holds the same IP packets more than once. "
         "One copy of each is shown; `-v` names the others. Reported once per conversation.", "capture"),
    Rule("guessed-framing", NOTE, CAPTURE,
         "The handshake isn't in the capture; how batches are framed (compressed, low latency) was determined by "
         "trial.", "notes 4.4"),
)  # fmt: skip

LIVENESS = (
    Rule("lease-exceeded", WARNING, PROTOCOL,
         "A side was silent for longer than the lease it announced: the receiver considers the link dead.",
         "site; code; notes 4.6 and 9 no. 26"),
    Rule("keep-alive-late", NOTE, PROTOCOL,
         "The sender was silent for longer than a third of its lease and didn't send KEEP_ALIVE.",
         "site; notes 4.6 and 9 no. 27"),
    Rule("after-close", WARNING, PROTOCOL, "A message after the sender's own CLOSE.", "site; notes 9 no. 28"),
    Rule("close-repeated", NOTE, PROTOCOL,
         "One side of a low-latency link sends CLOSE a second time, as the Rust implementation does when it shuts "
         "down, in either framing. This is harmless.", "recorded; notes 3.4"),
    Rule("close-reason", NOTE, PROTOCOL, "A link is closed for a reason other than a normal end.",
         "site; notes 4.1 and 9 no. 29"),
    Rule("expired-early", WARNING, PROTOCOL,
         "A link is closed with EXPIRED before the lease announced by the other side was over: the side that closed "
         "it used a lease other than the one in the other side's OPEN.", "code; notes 4.6 and 9 no. 26"),
    Rule("join-changed", WARNING, PROTOCOL,
         "A member's JOIN has a different ZenohID, role, resolution, lease or batch size than before.",
         "code; notes 4.3 and 9 no. 30"),
    Rule("join-differs", WARNING, PROTOCOL, "The JOINs of two members of a group have different resolutions or batch "
         "sizes. They ignore each other.", "code; notes 4.3 and 9 no. 30"),
    Rule("join-late", WARNING, PROTOCOL, "A member was silent for longer than its lease, or its JOINs are further "
         "apart than that.", "site; notes 9 no. 31"),
    Rule("hello-unasked", NOTE, PROTOCOL, "A HELLO without a SCOUT from its receiver.", "site; notes 9 no. 32"),
    Rule("hello-role", NOTE, PROTOCOL, "A HELLO from a role that the SCOUT didn't ask for.", "code; notes 9 no. 32"),
    Rule("hello-no-locators", NOTE, PROTOCOL,
         "A HELLO without locators: a node that looks for nodes to connect to ignores it.",
         "code; notes 5 and 9 no. 32"),
)  # fmt: skip

REQUESTS = (
    Rule("request-id-range", ERROR, PROTOCOL, "A request id doesn't fit the negotiated resolution.",
         "query#REQUEST Network Message; notes 9 no. 33"),
    Rule("request-id-reused", ERROR, PROTOCOL, "A request has the id of one that hasn't been answered completely.",
         "code; notes 7.3 and 9 no. 34"),
    Rule("response-unknown", WARNING, PROTOCOL, "An answer to a request that was never made.",
         "reply#RESPONSE Network Message; notes 9 no. 35"),
    Rule("response-after-final", ERROR, PROTOCOL, "An answer after the RESPONSE_FINAL of its request.",
         "reply#RESPONSE_FINAL; notes 7.3 and 9 no. 36"),
    Rule("second-final", ERROR, PROTOCOL, "A second RESPONSE_FINAL for a request.",
         "reply#RESPONSE_FINAL; notes 9 no. 36 and 13 no. 14"),
    Rule("no-final", WARNING, PROTOCOL,
         "A request got no RESPONSE_FINAL by the end of its timeout (10 s if it has none).",
         "reply#RESPONSE_FINAL; notes 9 no. 37"),
    Rule("answer-late", WARNING, PROTOCOL,
         "An answer after its request has timed out: the querier has given up and drops it.", "notes 7.3"),
    Rule("over-budget", WARNING, PROTOCOL, "More answers than the budget of the request allows.",
         "query#Budget Extension; notes 9 no. 38"),
    Rule("reply-key", WARNING, PROTOCOL,
         "The key of an answer doesn't intersect that of its request, which didn't ask for _anyke.",
         "code; notes 7.3 and 9 no. 40"),
)  # fmt: skip

KEYS = (
    Rule("unknown-scope", ERROR, PROTOCOL,
         "A scope that was never declared on this session. The receiver ignores the message.",
         "code; notes 6.2 and 9 no. 41"),
    Rule("scope-undeclared", ERROR, PROTOCOL, "A scope that has been undeclared. The receiver ignores the message.",
         "code; notes 6.2 and 9 no. 41"),
    Rule("expr-id-remapped", ERROR, PROTOCOL,
         "An id that stands for one key expression is declared again for another. Receivers ignore the second "
         "declaration.", "code; notes 6.2 and 9 no. 42"),
    Rule("scope-ambiguous", NOTE, PROTOCOL,
         "D_KEYEXPR with a scope: implementations disagree about whose table the scope is in, and here it could be "
         "either.", "notes 6.2 and 13 no. 22"),
    Rule("invalid-keyexpr", ERROR, PROTOCOL, "A key expression isn't valid, or isn't in canonical form.",
         "code; notes 8.1 and 9 no. 45"),
    Rule("wildcard-reply", NOTE, PROTOCOL, "The key of an answer has a wildcard.", "code; notes 9 no. 45"),
    Rule("keyexpr-in-use", NOTE, PROTOCOL,
         "The id of a key expression is freed while entities declared with it are still alive. This is harmless.",
         "notes 9 no. 44"),
)  # fmt: skip

DECLARATIONS = (
    Rule("undeclare-unknown", WARNING, PROTOCOL, "An id that wasn't declared is undeclared.", "code; notes 9 no. 43"),
    Rule("entity-remapped", WARNING, PROTOCOL, "A live entity is declared again with another key expression.",
         "code; notes 9 no. 43"),
    Rule("final-without-interest", ERROR, PROTOCOL, "D_FINAL in a DECLARE that answers no interest.",
         "code; notes 6.3 and 9 no. 46"),
    Rule("unknown-interest", WARNING, PROTOCOL, "A declaration answers an interest that wasn't declared.",
         "code; notes 9 no. 46"),
    Rule("second-interest-final", WARNING, PROTOCOL, "A second D_FINAL for an interest.", "code; notes 9 no. 46"),
    Rule("interest-mode", NOTE, PROTOCOL,
         "An interest in existing declarations only (Current), of a kind other than tokens: zenoh-pico sends and "
         "answers such interests; the Rust implementation ignores them.", "code; notes 6.3 and 9 no. 47"),
    Rule("interest-aggregate", ERROR, PROTOCOL, "Tokens can't be aggregated.", "code; notes 6.3 and 9 no. 47"),
    Rule("interest-empty", WARNING, PROTOCOL, "An interest in nothing: it asks for no kind of declaration.",
         "code; notes 9 no. 47"),
    Rule("interest-flags", WARNING, PROTOCOL,
         "An interest that isn't restricted has the flags of a key expression (N or M).", "code; notes 9 no. 47"),
    Rule("interest-unanswered", WARNING, PROTOCOL, "An interest in existing declarations got no D_FINAL within 10 s.",
         "code; notes 6.3 and 9 no. 48"),
    Rule("declaration-after-final", WARNING, PROTOCOL,
         "A declaration answers an interest after the D_FINAL of that interest; later declarations must not name it.",
         "site; code; notes 6.3 and 9 no. 49"),
    Rule("interest-final-unknown", WARNING, PROTOCOL, "An interest that wasn't declared is ended.",
         "site; code; notes 9 no. 49"),
    Rule("interest-role", WARNING, PROTOCOL, "A router sends an interest to a router, which ignores it.",
         "code; notes 6.3 and 9 no. 51"),
)  # fmt: skip

ROUTING = (
    Rule("node-id-client", WARNING, PROTOCOL, "NodeId on a session with a client, where it has no meaning.",
         "code; notes 2.3 and 9 no. 52"),
    Rule("node-id-unknown", WARNING, PROTOCOL, "NodeId names a node that the sender's link state hasn't mentioned.",
         "code; notes 9 no. 52"),
    Rule("far-queryable", WARNING, PROTOCOL, "A queryable hundreds of hops away.", "code; notes 9 no. 54"),
    Rule("psid-unknown", WARNING, PROTOCOL, "A node in the link state whose ZenohID was never given.",
         "code; notes 7.4 and 9 no. 54"),
    Rule("link-state-old", WARNING, PROTOCOL, "An entry of the link state is older than one sent before.",
         "code; notes 7.4 and 9 no. 54"),
    Rule("shm-unnegotiated", ERROR, PROTOCOL,
         "A payload in shared memory on a session that didn't negotiate it.", "code; notes 9 no. 55"),
)  # fmt: skip

DATA = (
    Rule("timestamp-far", NOTE, PROTOCOL, "A timestamp more than an hour away from the time of the capture.",
         "notes 9 no. 56"),
    Rule("timestamp-older", NOTE, PROTOCOL,
         "A sample is older than the one before it on the same key and session, by the same clock.", "notes 9 no. 56"),
    Rule("no-qos", NOTE, PROTOCOL,
         "A REQUEST, DECLARE or INTEREST without QoS: the specification gives Block as the default, implementations "
         "assume Data and Drop.", "message-reference#QoS Extension; notes 13 no. 3"),
    Rule("explicit-default", NOTE, PROTOCOL,
         "A default value is written out, which the Rust implementation never does.", "code; notes 9 no. 57"),
)  # fmt: skip

STATE_RULES = (
    *HANDSHAKE, *SEQUENCES, *FRAGMENTS, *FRAMINGS, *LIVENESS, *REQUESTS, *KEYS, *DECLARATIONS, *ROUTING, *DATA,
)  # fmt: skip
