"""Listings are bounded: what comes after so many rows is counted, and what a filter doesn't select makes room."""

from pathlib import Path

import pytest

from tests.captures.expectations import frames_of
from zdissect.filters import compile_filter
from zdissect.listing import (
    DeclarationListing,
    FindingListing,
    KeyListing,
    QueryListing,
    listed_declarations,
    listed_findings,
    listed_keys,
    query_hops,
)
from zdissect.pipeline import Options, Pipeline

ROUTER = Path(__file__).parents[2] / "samples" / "query-router.pcap"


def collected(listing, wanted=None):
    """The rows of the sample, and how many weren't kept."""
    pipeline = Pipeline(Options(history=True))
    for frame in frames_of([ROUTER]):
        listing.frame(frame)
        for item in pipeline.feed(frame):
            listing.feed(item, wanted.select(item) if wanted is not None else None)
    for item in pipeline.close():
        listing.feed(item, wanted.select(item) if wanted is not None else None)
    return [listing.whole(row) for row in listing.rows(pipeline)], listing.unlisted


@pytest.mark.parametrize(
    ("module", "listing"),
    [
        (listed_declarations, DeclarationListing), (listed_findings, FindingListing), (listed_keys, KeyListing),
        (query_hops, QueryListing),
    ],
)  # fmt: skip
def test_no_more_rows_than_that(monkeypatch, module, listing):
    every, none = collected(listing())
    assert none == 0
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    rows, unlisted = collected(listing())
    assert len(rows) == 3
    assert unlisted > 0
    assert listing is KeyListing or unlisted == len(every) - 3


def test_what_is_not_selected_makes_room(monkeypatch):
    wanted = 'key_expr == "slow/q"'
    every, _ = collected(QueryListing(), compile_filter(wanted))
    monkeypatch.setattr(query_hops, "MOST_ROWS", 5)
    assert collected(QueryListing(), compile_filter(wanted)) == (every, 0)
    assert len(every) == 2
