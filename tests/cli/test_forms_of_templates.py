"""What forms make of messages that share a template: the same as of messages read one by one."""

from functools import partial
from typing import Any

import pytest
from zdissect_cli.forms import Form, make_form
from zdissect_cli.options import DisplayOptions
from zdissect_cli.run import texts_of

from tests.alike import conversation
from tests.in_blocks import shown_in_blocks
from zdissect.dissection import Item
from zdissect.filters import compile_filter
from zdissect.pipeline import dissect

_NAMES = (
    "frame_number,message_number,sn,key_expr,timestamp,payload_len,zenoh.put.payload,zenoh.put.ext_attachment.value"
)
FORMS: list[dict[str, Any]] = [
    {"form": "line"},
    {"form": "line", "color": "always", "payload_bytes": 3},
    {"form": "line", "long": True},
    {"form": "line", "long": True, "color": "always"},
    {"form": "csv"},
    {"form": "fields", "names": (_NAMES,)},
    {"form": "fields", "names": ("ext.name,attachment,timestamp_ntp64,src_port",)},
    {"form": "jsonl"},
    {"form": "json"},
    {"form": "tree"},
    {"form": "tree", "whole": True},
    {"form": "tree", "opened": ("put",), "dump": True},
    {"form": "tree", "color": "always", "dump": True},
]
FILTERS = [
    None,
    "key_expr == a",
    "payload_len > 2 and frame_number > 9",
    "timestamp",
    "body == DEL",
    "sn",
    "not sn",
    "message == FRAME",
    "message_index == 1",
    "frame_number < 14 and key_expr",
    "frame_number < 14 or key_expr == a",
]


@pytest.mark.parametrize("options", FORMS, ids=lambda one: "-".join(map(str, one.values())))
@pytest.mark.parametrize("wanted", FILTERS)
def test_all_forms_say_the_same(options: dict[str, Any], wanted: str | None) -> None:
    forms = [make_form(DisplayOptions(**{"color": "never", **options})) for _ in range(2)]
    test = compile_filter(wanted) if wanted else None
    frames = conversation().capture.frames

    def shown(form: Form, item: Item) -> str:
        chosen = None if test is None else test.select(item)
        return form.show(item, chosen) if chosen is None or any(chosen) else ""

    show = texts_of(forms[0], test)
    texts, of_columns = shown_in_blocks(frames, show, partial(shown, forms[0]))
    text = "".join(texts)
    assert text == "".join(shown(forms[1], item) for item in dissect(frames))
    assert (forms[0].messages, forms[0].findings) == (forms[1].messages, forms[1].findings)
    assert (of_columns > 0) == forms[0].takes_columns
    assert text
