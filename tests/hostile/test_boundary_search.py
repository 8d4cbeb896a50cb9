"""What is read for guesses where the place in a stream is lost, and that no place is looked at twice."""

import pytest

from tests.conversation import Conversation
from tests.messages import push
from zdissect.flow import resync
from zdissect.flow.batch_decoding import Decoded, decode
from zdissect.flow.framing import STREAM, Framing
from zdissect.flow.resync import BoundarySearch

SIZE = 1 << 15


def test_fields_read_for_guesses_have_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these bytes could begin a batch of 1,028 KEEP_ALIVEs, which proves nothing."""
    read = 0

    def counted(data: bytes, framing: Framing) -> Decoded:
        nonlocal read
        out = decode(data, framing)
        read += len(out.content.spans)
        return out

    monkeypatch.setattr(resync, "decode", counted)
    search = BoundarySearch()
    for size in range(1024, SIZE + 1, 1024):
        assert not search.find(b"\x04" * size, STREAM, final=False)
    assert SIZE < read < 4 * SIZE


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_was_ruled_out_is_not_looked_at_again(size: int) -> None:
    """The place that is found is the one that is told, however the bytes come; it never goes back."""
    garbage = b"\x00\x00\x03\x00\x25\xff\xff\x00" * 400  # what looks like a batch isn't sound
    conversation = Conversation()
    batches = b"".join(conversation.bytes(0, conversation.framed(0, push(f"a/{number}"))) for number in range(5))
    data, search, before = garbage + batches, BoundarySearch(), 0
    for stop in (*range(size, len(data), size), len(data)):
        found = search.find(data[:stop], STREAM, final=stop == len(data))
        assert search.scanned >= before
        before = search.scanned
        if found:
            break
        assert search.scanned >= min(stop, len(garbage)) - 8
    assert found
    assert search.scanned == len(garbage)
