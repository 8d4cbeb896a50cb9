"""Trees and JSON of usual batches that are made from stencils: the same as of batches read one by one."""

from typing import Any

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from tests.families import family_member
from tests.generators import SeededChoices
from tests.in_blocks import shown_in_blocks
from tests.messages import push, put
from tests.packets import SECOND
from zdissect.grammar.network import PUSH
from zdissect.output import documents, stencils
from zdissect.pipeline import dissect
from zdissect.records import Frame

FORMS: list[dict[str, Any]] = [
    {"form": "tree"},
    {"form": "tree", "no_bits": True, "payload_bytes": 3},
    {"form": "tree", "color": "always"},
    {"form": "tree", "dump": True},
    {"form": "tree", "raw_keys": True},
    {"form": "tree", "opened": ("put",)},
    {"form": "tree", "opened": ("frame",)},
    {"form": "json"},
]
forms = pytest.mark.parametrize("options", FORMS, ids=lambda one: "-".join(map(str, one.values())))


def families(seed: int) -> list[Frame]:
    """FRAMEs with PUSHes that differ in what changes from message to message, and some in more."""
    made, source = Conversation().open(), SeededChoices(seed)
    for turn in range(200):
        members = [family_member(PUSH, seed * 100 + turn % 20 + place, source) for place in range(turn % 4)]
        made.frame(turn % 2, *members, reliable=turn % 3 > 0, pieces=1 + turn % 2)
    return made.capture.frames


def long_frames() -> list[Frame]:
    """Many messages in a FRAME: places, times and sizes have more and fewer digits and bytes."""
    made = Conversation().open()
    for turn in range(40):
        stamp = {"timestamp": {"time": (made.capture.now_ns // SECOND << 32) + (turn << turn % 24), "id": b"\x01"}}
        attached = {"ext": "attachment", "value": b"%d" % (turn << turn)}
        bodies = [put(b"%" * (turn * number), T=1, **stamp, extensions=[attached]) for number in range(8)]
        made.frame(0, *(push(key, body=body) for key, body in zip("abcdefgh", bodies, strict=True)))
        source = {"ext": "source_info", "zid": b"\x01", "eid": 2, "sn": turn << turn % 24}
        made.frame(1, push("a", body=put(extensions=[source]))).frame(1, sn=None).frame(
            0, push("0/chatter/std_msgs::msg::dds_::String_/RIHS01_00", body=put(b"\0\1\0\0"))
        )
    return made.capture.frames


def compared(frames: list[Frame], options: dict[str, Any]) -> int:
    """Compares what a form makes of blocks and of single frames; of how many batches from columns."""
    together, alone = (make_form(DisplayOptions(**{"color": "never", **options})) for _ in range(2))
    texts, of_columns = shown_in_blocks(frames, together.texts, together.show)
    assert "".join(texts) == "".join(map(alone.show, dissect(frames)))
    return of_columns


@forms
@pytest.mark.parametrize("seed", range(3))
def test_families_of_messages(options: dict[str, Any], seed: int) -> None:
    assert compared(families(seed), options) > 30


@forms
def test_long_frames(options: dict[str, Any]) -> None:
    assert compared(long_frames(), options) > 50


@forms
def test_few_are_kept_and_made_together(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stencils, "MOST_TEMPLATES", 3)
    monkeypatch.setattr(stencils, "MOST_KEPT", 5)
    monkeypatch.setattr(stencils, "AT_ONCE", 4)
    monkeypatch.setattr(documents, "AT_ONCE", 4)
    assert compared(long_frames(), options) > 50
    assert compared(families(1), options) > 30


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stencils, "MOST_TEMPLATES", 3)
    monkeypatch.setattr(stencils, "MOST_KEPT", 5)
    form: Any = make_form(DisplayOptions(form="tree", color="never"))
    shown_in_blocks(long_frames(), form.texts, form.show)
    assert 0 < len(form.stencils.known) <= 3
    assert 0 < sum(map(len, form.stencils.room.known.values())) <= 5
