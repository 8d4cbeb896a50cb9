"""Which frames an excerpt has: what is selected is understood in it as in the whole."""

from collections import Counter
from pathlib import Path

import pytest

from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.excerpt.choice import choose, numbered
from zdissect.pipeline import Options, dissect

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.pcap*"))
SHARED = Path(__file__).parents[3] / "shared" / "captures"
LONG = ("fleet", "10k", "kill9", "publisher-ids", "header-cut", "not-a", "zero-bytes", "truncated")
RECORDED = [path for path in sorted(SHARED.glob("*.pcap*")) if not any(word in path.name for word in LONG)]


def reader(path):
    def frames():
        with open_capture(str(path)) as capture:
            yield from capture

    return frames


def data(item):
    """Selects what carries payloads: every third of it, so that the others are missing."""
    messages = item.messages if isinstance(item, Dissection) else [None]
    return [
        message is not None and message.row.get("payload_len", 0) > 0 and item.frame.number % 3 == 0
        for message in messages
    ]  # fmt: skip


def selected(frames):
    """Keys and payloads of the messages that are selected, with their times; in any order, as acknowledgements lack."""
    out = Counter()
    for item in dissect(frames):
        if isinstance(item, Dissection):
            rows = [message.row for message, chosen in zip(item.messages, data(item), strict=True) if chosen]
            out.update((item.frame.ts_ns, row.get("key_expr"), row["message"], row.get("payload")) for row in rows)
    return out


@pytest.mark.parametrize("path", [*SAMPLES, *RECORDED], ids=lambda path: path.name)
def test_what_is_selected_is_resolved_as_in_the_whole(path):
    frames = reader(path)
    choice = choose(frames, Options(), data)
    assert choice.lost == 0
    few = [frame for frame in numbered(frames()) if frame.number in choice.frames]
    assert selected(numbered(frames())) == selected(few)


def only(number):
    """Selects the messages of one frame."""

    def select(item):
        count = len(item.messages) if isinstance(item, Dissection) and item.messages else 1
        return [item.frame.number == number] * count

    return select


def test_a_put_needs_handshake_declaration_and_subscriber():
    choice = choose(reader(SAMPLES[0].parent / "pubsub-tcp.pcap"), Options(), only(17))
    assert choice.selected == {17}
    assert {1, 2, 4, 6, 8, 9, 13} <= choice.needed
    assert choice.context == set()
    assert choice.lines() == [
        f"{1 + len(choice.needed)} of 36 frames: 1 that were selected, {len(choice.needed)} that these need "
        f"(handshakes, declarations, requests); {35 - len(choice.needed)} are left out"
    ]


def test_exact_is_what_was_selected():
    choice = choose(reader(SAMPLES[0].parent / "pubsub-tcp.pcap"), Options(), only(17), exact=True)
    assert choice.frames == {17}


def test_a_reply_needs_its_request():
    frames = reader(SAMPLES[0].parent / "query-router.pcap")
    for item in dissect(frames()):
        for row in (message.row for message in item.messages) if isinstance(item, Dissection) else ():
            if row["message"] == "RESPONSE":
                assert row["request_frame"] in choose(frames, Options(), only(item.frame.number)).needed
                return


def test_findings_are_comments():
    choice = choose(reader(SAMPLES[0].parent / "duplicate-sn.pcap"), Options(), data)
    assert any("sn-duplicate" in text for texts in choice.comments.values() for text in texts)


def test_nothing_selected_is_nothing():
    choice = choose(reader(SAMPLES[0]), Options(), lambda item: [False] * max(1, len(getattr(item, "messages", ()))))
    assert choice.frames == set()


@pytest.mark.parametrize("name", ["05-fragments-200k", "05-fragments-2mb", "15-mid-session"])
def test_a_message_in_fragments_needs_all_that_each_fragment_came_in(name):
    """Of batches that take several segments the last one alone says nothing: there is a gap before it."""
    path = SHARED / f"{name}.pcap"
    if not path.exists():
        pytest.skip("needs the shared captures")
    frames = reader(path)
    choice = choose(frames, Options(), in_fragments, exact=True)
    few = [frame for frame in numbered(frames()) if frame.number in choice.frames]
    lengths = [payloads(frames()), payloads(few)]
    assert lengths[0]
    assert lengths[0] == lengths[1]
    assert choose(frames, Options(), in_fragments).context == set(), "and the rest of the conversation isn't needed"


def in_fragments(item):
    """Selects messages that came in fragments."""
    if not isinstance(item, Dissection) or not item.messages:
        return [False]
    return [bool(message.row.get("fragments")) for message in item.messages]


def payloads(frames):
    """The lengths of payloads that came in fragments."""
    items = [item for item in dissect(frames, Options()) if isinstance(item, Dissection)]
    return [
        message.row.get("payload_len") for item in items for message in item.messages if message.row.get("fragments")
    ]
