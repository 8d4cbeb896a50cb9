"""Tables of a capture: its sessions, keys, queries, declarations and findings, a row each.

    pipeline, listing = Pipeline(Options(history=True)), QueryListing()
    for frame in frames:
        listing.frame(frame)
        for item in pipeline.feed(frame):
            listing.feed(item)
    for item in pipeline.close():
        listing.feed(item)
    rows = [listing.whole(row) for row in listing.rows(pipeline)]

`listing.columns` says which columns the rows have. Their values are what JSON has: texts, numbers, lists; None is what
isn't known. Times are nanoseconds where the name ends in `_ns`: since 1970, if it ends in `ts_ns`.
"""

from zdissect.listing.listed_declarations import DeclarationListing
from zdissect.listing.listed_findings import FindingListing
from zdissect.listing.listed_keys import KeyListing
from zdissect.listing.listed_queries import QueryListing
from zdissect.listing.listed_samples import SampleListing
from zdissect.listing.listed_sessions import SessionListing
from zdissect.listing.listing import ListColumn, Listing

__all__ = [
    "DeclarationListing", "FindingListing", "KeyListing", "ListColumn", "Listing", "QueryListing", "SampleListing",
    "SessionListing",
]  # fmt: skip
