"""What forms make of items of blocks: the same as of items of single frames."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.export.partitions import merged
from tests.export.tables import SAMPLES, frames
from tests.random_traffic import random_conversation
from tests.vector.item_blocks import Blocks, usual_frames
from zdissect.dissection import InTurn, Item
from zdissect.pipeline import Options, dissect
from zdissect.records import Frame

FORMS: list[dict[str, Any]] = [
    {"form": "line"},
    {"form": "line", "color": "always", "payload_bytes": 3},
    {"form": "line", "brief": True},
    {"form": "line", "long": True},
    {"form": "tree"},
    {"form": "tree", "dump": True, "color": "always"},
    {"form": "json"},
    {"form": "jsonl"},
    {"form": "csv"},
    {"form": "fields", "names": ("frame_number,message_number,sn,key_expr,timestamp,payload_len,zenoh.put.payload",)},
    {
        "form": "fields",
        "names": ("ext.name,attachment,timestamp_ntp64,tcp.srcport", "message_index"),
        "payload": "text",
    },
    {"form": "fields", "names": ("key_expr",), "separators": ("header=y",)},
]


class Shown:
    """What a form makes of items, and of usual batches where it takes these as columns."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.form = make_form(DisplayOptions(**{"color": "never", **options}))
        self.show = self.form.texts if self.form.takes_columns else None
        self.of_columns = 0

    def text(self, items: Sequence[Item | InTurn[str]]) -> str:
        texts = [item.take() if isinstance(item, InTurn) else self.form.show(item) for item in items]
        self.of_columns += sum(isinstance(item, InTurn) for item in items)
        return "".join([*texts, self.form.end()])


def some_frames() -> list[list[Frame]]:
    samples = merged([frames(path) for path in sorted(SAMPLES.glob("*.pcap*"))], Random(2))
    return [usual_frames(), samples, *(random_conversation(seed, 120).capture.frames for seed in range(3))]


@pytest.mark.parametrize("options", FORMS, ids=lambda one: "-".join(map(str, one.values())))
def test_all_forms_say_the_same(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = Blocks(monkeypatch)
    of_columns = 0
    for some in some_frames():
        alone, together = Shown(options), Shown(options)
        text = together.text(blocks.items(some, 30, together.show))
        assert text == alone.text(list(dissect(some, Options())))
        assert together.form.messages == alone.form.messages
        assert together.form.findings == alone.form.findings
        of_columns += together.of_columns
    assert blocks.usual
    assert (of_columns > 0) == (together.show is not None)
