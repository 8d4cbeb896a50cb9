"""What forms make of items of blocks: the same as of items of single frames."""

from random import Random
from typing import Any

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.export.partitions import merged
from tests.export.tables import SAMPLES, frames
from tests.random_traffic import random_conversation
from tests.vector.item_blocks import Blocks, usual_frames
from zdissect.dissection import Item
from zdissect.pipeline import Options, dissect
from zdissect.records import Frame

FORMS: list[dict[str, Any]] = [
    {"form": "line"},
    {"form": "line", "long": True},
    {"form": "tree"},
    {"form": "tree", "dump": True, "color": "always"},
    {"form": "json"},
    {"form": "jsonl"},
    {"form": "csv"},
]


def shown(items: list[Item], options: dict[str, Any]) -> str:
    form = make_form(DisplayOptions(**{"color": "never", **options}))
    return "".join([*map(form.show, items), form.end()])


def some_frames() -> list[list[Frame]]:
    samples = merged([frames(path) for path in sorted(SAMPLES.glob("*.pcap*"))], Random(2))
    return [usual_frames(), samples, *(random_conversation(seed, 120).capture.frames for seed in range(3))]


@pytest.mark.parametrize("options", FORMS, ids=lambda one: "-".join(map(str, one.values())))
def test_all_forms_say_the_same(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = Blocks(monkeypatch)
    for some in some_frames():
        together = shown(blocks.items(some, 30), options)
        assert together == shown(list(dissect(some, Options())), options)
    assert blocks.usual
