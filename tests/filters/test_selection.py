"""What filters select: absence, repeated values, scopes, and what is no message."""

import pytest

from tests.filtered import SAMPLES, frames_of, items_of, samples
from tests.in_blocks import in_blocks
from zdissect.dissection import Dissection, Notice, Skip
from zdissect.filters import FilterError, LookAhead, compile_filter
from zdissect.grammar.aliases import aliases


def ask(text, **row):
    return compile_filter(text).row(row)


@pytest.mark.parametrize(
    ("text", "row", "selected"),
    [
        ("sn == 5", {}, False),
        ("sn != 5", {}, False),
        ("!(sn == 5)", {}, True),
        ("sn < 5", {}, False),
        ("sn", {}, False),
        ("sn", {"sn": 0}, True),
        ("not sn", {}, True),
        ("sn in {1}", {}, False),
        ("sn not in {1}", {}, True),
        ("count(locators) == 0", {}, False),
        ("len(payload) == 0", {}, False),
        ("len(payload) == 0", {"payload": b""}, True),
        ('locators == "a"', {"locators": ["a", "b"]}, True),
        ('all locators == "a"', {"locators": ["a", "b"]}, False),
        ('locators != "a"', {"locators": ["a", "b"]}, False),
        ('any locators != "a"', {"locators": ["a", "b"]}, True),
        ('locators != "c"', {"locators": ["a", "b"]}, True),
        ('locators != "c"', {"locators": []}, False),
        ('all locators in {"a", "b"}', {"locators": ["a", "b"]}, True),
        ("severity > note", {"findings": [{"severity": "note"}, {"severity": "error"}]}, True),
        ("all severity > note", {"findings": [{"severity": "note"}, {"severity": "error"}]}, False),
        ("severity == note", {"findings": None}, False),
        ("priority <= RealTime", {"priority": "Control"}, True),
        ("priority <= 1", {"priority": "InteractiveHigh"}, False),
        ("close_reason > 7", {"close_reason": "9"}, True),
        ("close_reason < 9", {"close_reason": "9"}, False),
        ("close_reason == 9", {"close_reason": "9"}, True),
        ("close_reason in {0 .. 2}", {"close_reason": "INVALID"}, True),
        ("lease_ms == 10s", {"lease_ms": 10_000}, True),
        ("lease_ms > 1min", {"lease_ms": 60_001}, True),
        ("response_time_ns == 0.5ns", {"response_time_ns": 0}, False),
        ("response_time_ns > 0.5ns", {"response_time_ns": 1}, True),
        ("response_time_ns < 0.5ns", {"response_time_ns": 0}, True),
        ("response_time_ns > 1000000", {"response_time_ns": 1_000_001}, True),
        ("zenoh.response_time > 0.001", {"response_time_ns": 1_000_001}, True),
        ("zenoh.response_time > 0.001", {"response_time_ns": 1_000_000}, False),
        ("response_time_ns > timeout_ms", {"response_time_ns": 5_000_001, "timeout_ms": 5}, True),
        ("response_time_ns > timeout_ms", {"response_time_ns": 5_000_000, "timeout_ms": 5}, False),
        ("ts_ns == 2026-01-31T12:00:00.000000001Z", {"ts_ns": 1_769_860_800_000_000_001}, True),
        ("ts == 2026-01-31T12:00:00.000000001Z", {"ts": 1_769_860_800_000_000}, False),
        ('ts == "2026-01-31 14:00:00+02:00"', {"ts": 1_769_860_800_000_000}, True),
        ("ts == 1769860800", {"ts": 1_769_860_800_000_000}, True),
        ("frame.time_epoch >= 1769860800.5", {"ts_ns": 1_769_860_800_500_000_000}, True),
        ("src_zid == 0a1b", {"src_zid": "a1b"}, True),
        ("src_zid == 1b:0a", {"src_zid": "a1b"}, True),
        ("src_zid == wire:1b0a", {"src_zid": "a1b"}, True),
        ("src_ip == 10.0.0.0/8", {"src_ip": "10.1.2.3"}, True),
        ("src_ip != 10.0.0.0/8", {"src_ip": "10.1.2.3"}, False),
        ("src_ip == fe80::/10", {"src_ip": "fe80::1"}, True),
        ("src_ip == ::ffff:1.2.3.4", {"src_ip": "::ffff:1.2.3.4"}, True),
        ("src_ip > 10.0.0.1", {"src_ip": "10.0.0.2"}, True),
        ("src_ip > 10.0.0.1", {"src_ip": "fe80::1"}, False),
        ("ip.src == 10.0.0.1", {"src_ip": "10.0.0.1"}, True),
        ("ipv6.addr == ::1", {"src_ip": "::2", "dst_ip": "::1"}, True),
        ("tcp.port == 7447", {"flow_id": "udp.0", "src_port": 7447}, False),
        ("tcp.stream == 3", {"flow_id": "tcp.3"}, True),
        ("udp.stream == 3", {"flow_id": "tcp.3"}, False),
        ("payload == 0001ff", {"payload": b"\0\x01\xff"}, True),
        ('payload == "\\x00\\x01\\xff"', {"payload": b"\0\x01\xff"}, True),
        ('payload == "ä"', {"payload": "ä".encode()}, True),
        ('payload matches "B.D"', {"payload": b"\xffabcd"}, True),
        (r'payload matches "\\xff"', {"payload": b"\xff"}, True),
        ('key_expr matches "Ä"', {"key_expr": "ä"}, True),
        ('lower(key_expr) == "abä"', {"key_expr": "ABä"}, True),
        ('upper(key_expr) == "ABä"', {"key_expr": "abä"}, True),
        ("len(key_expr) == 2", {"key_expr": "ä"}, True),
        ('string(sn) == "12"', {"sn": 12}, True),
        ("payload[1:2] == 02:03", {"payload": b"\x01\x02\x03"}, True),
        ("payload[-1] == 03", {"payload": b"\x01\x02\x03"}, True),
        ("payload[-2:] == 02:03", {"payload": b"\x01\x02\x03"}, True),
        ("payload[-2--1] == 02:03", {"payload": b"\x01\x02\x03"}, True),
        ("payload[0,2] == 01:03", {"payload": b"\x01\x02\x03"}, True),
        ("payload[5:2]", {"payload": b"\x01\x02\x03"}, False),
        ("sn & 1", {"sn": 5}, True),
        ("sn & 2", {"sn": 5}, False),
        ("sn & 6 == 4", {"sn": 5}, True),
        ('key_expr within "a/**"', {"key_expr": "a/b"}, True),
        ('key_expr within "a/**"', {"key_expr": "**"}, False),
        ('key_expr includes "a/b"', {"key_expr": "**"}, True),
        ('key_expr intersects "a/*"', {"key_expr": "*/b"}, True),
        ("encoding_id == text/plain", {"encoding_id": 4}, True),
        ("express == true", {"express": True}, True),
        ("express == 0", {"express": False}, True),
        ("timestamp_ntp64 > 0x7fffffffffffffff", {"timestamp_ntp64": 1 << 63}, True),
        ("lease_ms == 0xffffffffffffffff", {"lease_ms": ((1 << 64) - 1) * 1000}, True),
        ("ts_ns", {"ts_ns": 1 << 63}, False),
        (r'key_expr == "\\xff"', {"key_expr": "\udcff"}, True),
    ],
)
def test_values_and_absence(text, row, selected):
    assert ask(text, **row) is selected


def test_a_frame_is_around_its_messages_and_not_the_other_way_round():
    for item in samples().items:
        names = [message.row["message"] for message in item.messages]
        pushes = compile_filter("zenoh.push").select(item)
        assert pushes == [name == "PUSH" for name in names]
        framed = compile_filter("zenoh.frame and zenoh.push").select(item)
        if item.tape.spans[0][4] == "BATCH" and "FRAME" in names:
            assert framed == pushes
        assert compile_filter("zenoh.frame.sn == sn").through_spans(item)[: len(names)] == [
            row.get("sn") is not None and name != "FRAGMENT" and (name == "FRAME" or "FRAME" in names)
            and item.buffer.name != "reassembled"
            for name, row in ((message.row["message"], message.row) for message in item.messages)
        ]  # fmt: skip


def test_lazy_tapes_give_the_same():
    texts = ("zenoh.frame.r == true", "zenoh.push.n", "zenoh.put.payload contains 6e", "frame.len > 100", "eth.src")
    for text in texts:
        plain, lazy = (
            [one for item in items for one in compile_filter(text).select(item)]
            for items in (items_of(SAMPLES), [one for path in SAMPLES for one in in_blocks(frames_of(path))])
        )
        assert plain == lazy
        assert any(plain)


def test_skipped_bytes_and_notices_are_selected_by_their_findings():
    items = items_of(SAMPLES)
    others = [item for item in items if isinstance(item, Skip | Notice) and item.code]
    assert others
    for item in others:
        assert compile_filter(f"finding == {item.code}").select(item) == [True]
        assert compile_filter(f"finding != {item.code}").select(item) == [False]
        assert compile_filter("message").select(item) == [False]
        assert compile_filter(f"frame.number == {item.frame.number} and flow_id == {item.flow.id}").select(item) == [
            True
        ]
        assert compile_filter("zenoh.push.n").select(item) == [False]


def test_what_looks_ahead_needs_a_first_pass():
    items = items_of([path for path in SAMPLES if path.name == "query-router.pcap"])
    wanted = compile_filter("request.answered == true and zenoh.request.final_in")
    assert wanted.looks_ahead
    with pytest.raises(FilterError, match="first pass"):
        wanted.select(items[0])
    wanted.ahead = LookAhead(items)
    selected = [
        message.row for item in items if isinstance(item, Dissection)
        for message, one in zip(item.messages, wanted.select(item), strict=True) if one
    ]  # fmt: skip
    answers = [message.row for item in items if isinstance(item, Dissection) for message in item.messages]
    answered = {row["request_frame"] for row in answers if row["message"] == "RESPONSE"}
    ended = {row["request_frame"] for row in answers if row["message"] == "RESPONSE_FINAL" and "request_frame" in row}
    assert selected
    assert all(row["message"] == "REQUEST" for row in selected)
    frames = {item.frame.number for item in items if isinstance(item, Dissection) for message in item.messages
              if message.row in selected}  # fmt: skip
    assert frames == answered & ended


def test_rows_alone_do_not_answer_for_tapes():
    for text, name in (("zenoh.frame.r", "zenoh.frame.r"), ("frame.len > 5", "frame.len")):
        wanted = compile_filter(text)
        assert wanted.needs_tape
        with pytest.raises(FilterError, match=name):
            wanted.arrow()
        with pytest.raises(FilterError, match=name):
            wanted.sql()
        with pytest.raises(FilterError, match=name):
            wanted.row({})


def test_all_names_of_other_tools_are_names_here():
    for name in aliases():
        wanted = compile_filter(name)
        wanted.ahead = LookAhead()
        assert isinstance(wanted.select(samples().items[0]), list)
    assert len(aliases()) >= 186


def test_aliases_hold_in_their_messages_only():
    rows = samples().rows
    assert samples().rows_of("zenoh.transport.frame.network.push.put.payload") == [
        row for row in rows if row["message"] == "PUSH" and row.get("body") == "PUT" and row.get("payload") is not None
    ]
    assert samples().rows_of("zenoh.transport.init_syn.zid") == [row for row in rows if row["message"] == "INIT_SYN"]
