"""What forms make of messages that share a template: the same as of messages read one by one."""

from typing import Any

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.alike import items
from zdissect.filters import compile_filter

FORMS: list[dict[str, Any]] = [
    {"form": "line"},
    {"form": "line", "color": "always", "payload_bytes": 3},
    {"form": "line", "long": True},
    {"form": "line", "long": True, "color": "always"},
    {"form": "csv"},
    {"form": "fields", "names": ("frame_number,message_number,sn,key_expr,timestamp,payload_len,zenoh.put.payload",)},
    {"form": "fields", "names": ("ext.name,attachment,timestamp_ntp64,tcp.srcport",)},
    {"form": "jsonl"},
]
FILTERS = [None, "key_expr == a", "payload_len > 2 and frame_number > 9", "timestamp", "body == DEL", "sn", "not sn"]


@pytest.mark.parametrize("options", FORMS, ids=lambda one: "-".join(map(str, one.values())))
@pytest.mark.parametrize("wanted", FILTERS)
def test_all_forms_say_the_same(options: dict[str, Any], wanted: str | None) -> None:
    texts = []
    for blocks in (True, False):
        form = make_form(DisplayOptions(**{"color": "never", **options}))
        test = compile_filter(wanted) if wanted else None
        text = []
        for item in items(blocks):
            chosen = None if test is None else test.select(item)
            if chosen is None or any(chosen):
                text.append(form.show(item, chosen))
        texts.append(("".join(text), form.messages, form.findings))
    assert texts[0] == texts[1]
    assert texts[0][0]
