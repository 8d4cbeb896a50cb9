"""The time that passes in a capture: its clock without leaps."""

import json
import pickle
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conversation import Conversation
from tests.export.partitions import assert_same
from tests.export.tables import SAMPLES, frames
from tests.messages import push
from tests.observed import Observed, content, observed
from zdissect.flow.clock import LEAP_NS, MOST_CLOCKS, Clock
from zdissect.records import Frame

START, SECOND = 1_700_000_000 * 10**9, 10**9
YEAR = 365 * 24 * 3600 * SECOND
ANY_TIME = st.integers(-(1 << 100), 1 << 100) | st.integers(START - YEAR, START + YEAR)


def at(times: Iterable[int]) -> list[Frame]:
    return [Frame("a", number, ts_ns, 1, 60, b"") for number, ts_ns in enumerate(times, 1)]


def passed(times: Iterable[int]) -> list[int]:
    """The time that has passed at each frame, since the first one."""
    clock = Clock()
    found = [clock.feed(frame).now_ns for frame in at(times)]
    return [now_ns - found[0] for now_ns in found]


def told(times: Iterable[int]) -> list[int]:
    """Numbers of the frames of whose time there is something to say."""
    clock = Clock()
    return [frame.number for frame in at(times) if clock.feed(frame) and clock.told]


def test_without_leaps_it_is_the_time_of_the_capture() -> None:
    clock = Clock()
    for frame in at([START, START + SECOND, START - SECOND, START + LEAP_NS - SECOND]):
        assert clock.feed(frame) is frame
        assert not clock.told


@pytest.mark.parametrize("odd", [START + 10 * YEAR, START - YEAR, 0, -1, 1 << 63, (1 << 64) * SECOND, -(1 << 90)])
def test_one_odd_time_changes_nothing_for_the_frames_behind_it(odd: int) -> None:
    assert passed([START, START + 1, odd, START + 2, START + 3]) == [0, 1, 1, 2, 3]
    assert told([START, START + 1, odd, START + 2, START + 3]) == [3]


@pytest.mark.parametrize("silence", [LEAP_NS + 2, 50 * 24 * LEAP_NS, YEAR])
def test_a_silence_has_passed_if_the_next_frame_agrees(silence: int) -> None:
    times = [START, START + 1, START + silence, START + silence + 1, START + silence + 2]
    assert passed(times) == [0, 1, 1, silence + 1, silence + 2]
    assert not told(times)


@pytest.mark.parametrize("silence", [LEAP_NS + 2, 50 * 24 * LEAP_NS, YEAR])
def test_it_has_not_if_the_next_frame_takes_it_back(silence: int) -> None:
    times = [START, START + silence, START + 1, START + 2]
    assert passed(times) == [0, 0, 1, 2]
    assert told(times) == [3]


def test_frames_keep_their_time_and_their_now_when_they_are_copied() -> None:
    clock = Clock()
    frame = [clock.feed(frame) for frame in at([START, START + 9 * YEAR])][1]
    again = pickle.loads(pickle.dumps(frame))
    assert again == frame == at([START, START + 9 * YEAR])[1]
    assert again.now_ns == frame.now_ns == START


@pytest.mark.parametrize("step", [-LEAP_NS - 1, -YEAR, 3 * YEAR])
def test_a_clock_that_was_set_goes_on_from_there(step: int) -> None:
    assert passed([START, START + 1, START + step, START + step + 5]) == [0, 1, 1, 6]
    assert told([START, START + 1, START + step, START + step + 5]) == [3]


def test_two_interfaces_with_two_clocks() -> None:
    times = [START, 0, START + 10, 10, START + 20, 25]
    assert passed(times) == [0, 0, 10, 10, 20, 25]
    assert told(times) == [2]


def test_two_clocks_that_a_silence_could_explain() -> None:
    """They are told apart when the first one comes back."""
    ahead = START + 2 * LEAP_NS
    assert passed([START, ahead, ahead + 1, START + 1, ahead + 2, START + 2, ahead + 3]) == [
        0, 0, 2 * LEAP_NS + 1, 2 * LEAP_NS + 1, 2 * LEAP_NS + 2, 2 * LEAP_NS + 2, 2 * LEAP_NS + 3,
    ]  # fmt: skip


@pytest.mark.parametrize(("step", "later"), [(-YEAR, 1), (3 * YEAR, 1), (YEAR, YEAR + 1)])
def test_the_first_frame_of_a_further_file_may_be_of_another_day(step: int, later: int) -> None:
    clock = Clock()
    clock.feed(Frame("a", 7, START, 1, 60, b""))
    assert clock.feed(Frame("b", 1, START + step, 1, 60, b"")).now_ns == START
    assert not clock.told
    assert clock.feed(Frame("b", 2, START + step + 1, 1, 60, b"")).now_ns == START + later
    assert not clock.told


def test_a_time_that_tables_do_not_hold_is_told_even_of_the_first_frame() -> None:
    assert told([1 << 63, (1 << 63) + 1]) == [1]
    assert told([(1 << 63) - 1]) == []


def test_few_clocks_are_remembered() -> None:
    clock = Clock()
    for frame in at(START + 2 * number * YEAR for number in range(100)):
        clock.feed(frame)
    assert len(clock.clocks) == MOST_CLOCKS


@given(st.lists(ANY_TIME, max_size=30), st.integers(0, 30))
def test_it_goes_on_from_its_state(times: list[int], place: int) -> None:
    whole, first = Clock(), Clock()
    expected = [(whole.feed(frame).now_ns, whole.told) for frame in at(times)]
    found = [(first.feed(frame).now_ns, first.told) for frame in at(times)[:place]]
    second = Clock(*json.loads(json.dumps(first.state())))
    assert found + [(second.feed(frame).now_ns, second.told) for frame in at(times)[place:]] == expected


def flipped(some: list[Frame], place: int, bit: int) -> list[Frame]:
    """Frames of which one has another time."""
    frame = some[place]
    return [*some[:place], frame._replace(ts_ns=frame.ts_ns ^ 1 << bit), *some[place + 1 :]]


def said(found: Observed) -> tuple[object, list[tuple[str, int]]]:
    """What a capture holds, but for its times."""
    codes = [(one.rule.code, one.item.frame.number) for one in found.findings if one.rule.code != "time-leap"]
    return content(found.rows), codes


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.pcap*")), ids=lambda path: path.name)
def test_a_flipped_bit_in_one_time_is_a_finding_and_changes_nothing_else(path: Path) -> None:
    some = frames(path)
    if not some:
        return
    random = Random(path.name)
    place = random.randrange(1, len(some)) if len(some) > 1 else 0
    found, plain = observed(flipped(some, place, random.randrange(42, 75))), observed(some)
    assert said(found) == said(plain)
    assert found.codes.count("time-leap") <= plain.codes.count("time-leap") + 1


@settings(max_examples=25)
@given(st.lists(ANY_TIME, min_size=20, max_size=20))
def test_any_times(times: list[int]) -> None:
    """Nothing fails or goes on for ever; all is delivered. A segment in the middle is missing."""
    conversation = Conversation().open().frame(0, push())
    conversation.sent[0] += 10
    for _ in range(20):
        conversation.frame(0, push()).frame(1, push())
    given = [frame._replace(ts_ns=ts_ns) for frame, ts_ns in zip(conversation.capture.frames[-20:], times, strict=True)]
    some = conversation.capture.frames[:-20] + given
    assert observed(some).names.count("PUSH") == 41
    assert_same(some, 3)
