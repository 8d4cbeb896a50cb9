"""How fast bytes become tapes. `tapes_per_second` (or `messages_per_second`) is in the extra info of each benchmark.

"rich" is a PUSH with QoS, Timestamp and NodeId over a PUT with timestamp, encoding with schema, SourceInfo, an unknown
extension and Attachment; "lean" a PUSH with QoS over a PUT; "frame" a FRAME of 100 lean messages.
"""

import pytest

from tests.vector.walking import arena_of, prefixed
from zdissect.engine.interpreter import interpret
from zdissect.grammar.batch import BATCH
from zdissect.grammar.network import PUSH
from zdissect.vector.walk import Walker

STAMP = "b0 b6 b8 d1 da ff fb 84 6b 02 02 bb"
RICH = bytes.fromhex(
    "fd 02 04 2f 72 2f 62"  # PUSH Z=1 M=1 N=1, scope 2 + "/r/b"
    f"a1 0d c2 0c {STAMP} 33 05"  # QoS, Timestamp, NodeId
    f"e1 {STAMP} 09 05 75 74 66 2d 38"  # PUT Z=1 E=1 T=1, timestamp, text/plain;utf-8
    "c1 05 10 02 bb 06 4d ca 02 ff fe 43 03 61 74 74"  # SourceInfo, unknown extension, Attachment
    "04 74 65 78 74"  # payload
)
LEAN = bytes.fromhex("fd 02 04 2f 72 2f 62 21 0d 01 04 74 65 78 74")
FRAME = bytes.fromhex("25 fe ba 85 45") + 100 * LEAN
ROUNDS = 200


@pytest.mark.parametrize(("data", "leaves"), [(RICH, 27), (LEAN, 7)], ids=["rich", "lean"])
def test_interpret_message(benchmark, data, leaves):
    tape = interpret(PUSH, data)
    assert len(list(tape.leaves())) == leaves

    def tapes() -> None:
        for _ in range(ROUNDS):
            interpret(PUSH, data)

    benchmark(tapes)
    if benchmark.stats:  # none with --benchmark-disable
        benchmark.extra_info["tapes_per_second"] = round(ROUNDS / benchmark.stats["min"])


def test_interpret_frame(benchmark):
    tape = benchmark(interpret, BATCH, FRAME)
    assert sum(span[4] == "PUSH" for span in tape.spans) == 100
    assert not tape.remarks
    if benchmark.stats:
        benchmark.extra_info["messages_per_second"] = round(100 / benchmark.stats["min"])


def test_walk_frames(benchmark):
    """Many of them, on arrays."""
    walker, arena = Walker(), arena_of([prefixed(FRAME)] * ROUNDS)
    walker.walk(*arena)
    walked = benchmark(walker.walk, *arena)
    assert walked.plain.all()
    assert len(walked.batch) == 101 * ROUNDS
    if benchmark.stats:
        benchmark.extra_info["messages_per_second"] = round(100 * ROUNDS / benchmark.stats["min"])
