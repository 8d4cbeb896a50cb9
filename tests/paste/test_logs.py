"""Logs and tshark's output: each message and each payload is a piece."""

import pytest

from zdissect.paste import PasteError, parse_paste

FRAME = "0e0025c8017d00036b2f610103313131"
SPACED = "0e 00 25 c8 01 7d 00 03 6b 2f 61 01 03 31 31 31"
COLONS = SPACED.replace(" ", ":")
DUMPED = "0e 00 25 c8 01 7d 00 03  6b 2f 61 01 03 31 31 31"
ALIVE = "010004"

LOGS = {
    "Zephyr": (
        f"[00:00:07.876,000] <dbg> link: tx:\n          {DUMPED} |..%..}}.. k/a..111\n          04    |.\n"
        "[00:00:07.877,000] <dbg> link: rx:\n          01 00 04     |...",
        [FRAME + "04", ALIVE],
    ),
    "Zephyr in colour": (f"\x1b[0m[00:00:07.876,000] <dbg> link: tx:\n  {DUMPED} |..%..}}.. k/a..111\x1b[0m", [FRAME]),
    "ESP_LOG_BUFFER_HEX": (
        f"I (12) zenoh: {SPACED}\nI (17) zenoh: 05\nI (20) wifi: connected\nI (21) zenoh: 01 00 04",
        [FRAME + "05", ALIVE],
    ),
    "ESP_LOG_BUFFER_HEXDUMP": (
        f"I (12) zenoh: 0x3ffb1234   {DUMPED}  |..%..}}..k/a..111|\nI (17) zenoh: 0x3ffb1244   05 06     |..|",
        [FRAME + "0506"],
    ),
    "the same without its prefix": (
        f"0x3ffb1234   {DUMPED}  |..%..}}..k/a..111|\n0x3ffb1244   05 06       |..|", [FRAME + "0506"],
    ),
    "logcat": (
        f"01-02 03:04:05.678  1234  5678 D Zenoh   : {SPACED}\n01-02 03:04:05.690  1234  5678 D Zenoh   : 01 00 04",
        [FRAME, ALIVE],
    ),
    "logcat, brief": (f"D/Zenoh   ( 1234): {FRAME}", [FRAME]),
    "tracing": (f"2024-05-05T10:11:12.123456Z DEBUG zenoh_transport: rx 16 bytes: {FRAME}", [FRAME]),
    "tracing, {:02x?}": (f"2024-05-05T10:11:12Z TRACE rx-0 io: Received: [{SPACED.replace(' ', ', ')}]", [FRAME]),
    "a field of tracing": (f"2024-05-05T10:11:12Z  INFO main: rx{{peer=1234abcd}}: payload={COLONS}", [FRAME]),
    "nRF": ("<info> app:  0E 00 25 C8 01 7D 00 03|..%..}..\n<info> app:  6B 2F 61 01 03 31 31 31|k/a..111", [FRAME]),
    "syslog": (f"Nov 28 10:11:12 host zenohd[123]: rx {SPACED}", [FRAME]),
}  # fmt: skip

TSHARK = {
    "-T json -e": (
        f'[{{"_source": {{"layers": {{"tcp.payload": ["{COLONS}"]}}}}}}, {{"tcp.payload": ["01:00:04"]}}]',
        2,
    ),
    "-T json": ('[{"layers":{"tcp":{"tcp.payload":"01:00:04"},"data":{"data.data":"01:00:04"}}}]', 1),
    "-T json -x": ('[{"tcp":{"tcp.payload_raw":["010004",54,3,0,30],"tcp.payload":"01:00:04"}}]', 1),
    "-T jsonraw": ('[{"frame_raw":["0011",0,2,0,1],"tcp":{"tcp.payload_raw":["010004",54,3,0,30]}}]', 1),
    "-T ek": ('{"index":{}}\n{"timestamp":"1","layers":{"tcp":{"tcp_tcp_payload":"01:00:04"}}}', 1),
    "-T ek -e": (f'{{"layers":{{"tcp_payload":["{COLONS}"]}}}}\n{{"layers":{{"tcp_payload":["01:00:04"]}}}}', 2),
    "-T pdml": ('<proto><field name="tcp.payload" size="3" show="01:00:04" value="010004"/></proto>', 1),
    "-T fields": (f"1\t10.0.0.1\t{FRAME}\n2\t10.0.0.1\t\n3\t10.0.0.2\t010004\n", 2),
    "UDP": ('[{"udp.payload":["01:00:04"]}]', 1),
    "data alone": ('[{"data.data":["01:00:04"]}]', 1),
}


@pytest.mark.parametrize("name", LOGS)
def test_logs(name: str) -> None:
    text, wanted = LOGS[name]
    assert [piece.data.hex() for piece in parse_paste(text)] == wanted


@pytest.mark.parametrize("name", TSHARK)
def test_tshark(name: str) -> None:
    text, number = TSHARK[name]
    assert [piece.data.hex() for piece in parse_paste(text)] == [FRAME, ALIVE][-number:]


def test_a_payload_that_is_not_whole() -> None:
    with pytest.raises(PasteError, match="isn't whole bytes"):
        parse_paste('[{"tcp.payload":["01:0"]}]')


@pytest.mark.parametrize("text", ["[00:00:07.876,000] <dbg> link: dead beef face", "12:00:01 INFO started at 12:34:56"])
def test_words_and_times_are_no_bytes(text: str) -> None:
    with pytest.raises(PasteError):
        parse_paste(text)


def test_a_digit_without_a_partner_is_not_left_out() -> None:
    with pytest.raises(PasteError, match="half a byte"):
        parse_paste("0000: 00 0 0 000000\u00b0 0  0")
