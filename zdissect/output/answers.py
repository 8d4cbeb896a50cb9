"""What became of a request, in words."""

from collections.abc import Iterator

from zdissect.engine.messages import Row


def answers(row: Row) -> Iterator[str]:
    """Lines about what a second pass over the capture knows: its columns are in the row (`filters/ahead.py`)."""
    if not row["answered"]:
        final = row["final_in"]
        yield "No response" + (f", final in: frame {final}" if final is not None else "")
        return
    yield f"Response in: frame {row['response_in']}"
    if row["answer_time"] is not None:
        yield f"Answered after: {row['answer_time'] / 1_000_000:.3f} ms"
