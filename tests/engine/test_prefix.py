"""Design section 7, invariant 4: where the bytes are cut, what stands before the cut reads as it did.

But for an extension whose length is in doubt: what follows it decides, and what follows may be what was cut off.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.tapes import check, first_doubt, leaves
from tests.strategies import Encoded, anything
from zdissect.engine.interpreter import interpret


def prefixes(one: Encoded, ends: range) -> None:
    whole = interpret(one.entry, one.data, **one.inputs)
    doubt = first_doubt(whole)
    for end in ends:
        part = interpret(one.entry, one.data[:end], cut=True, **one.inputs)
        check(part)
        sure = min(end, doubt)
        assert leaves(part, sure) == leaves(whole, sure), f"cut at {end}"
        assert [remark for remark in part.remarks if remark[2] < sure] == [
            remark for remark in whole.remarks if remark in part.remarks and remark[2] < sure
        ]


@settings(max_examples=100)
@given(anything())
def test_every_prefix(one: Encoded) -> None:
    prefixes(one, range(min(len(one.data), 160)))


@given(anything(), st.data())
def test_a_cut_makes_no_errors(one: Encoded, data: st.DataObject) -> None:
    """What a capture lacks is no fault of the sender."""
    whole = interpret(one.entry, one.data, **one.inputs)
    end = data.draw(st.integers(0, max(0, len(one.data) - 1)))
    part = interpret(one.entry, one.data[:end], cut=True, **one.inputs)
    if first_doubt(whole) < end:
        return
    codes = {remark[0] for remark in whole.remarks}
    assert {remark[0] for remark in part.remarks} <= codes
