"""What docs/performance.md says besides figures."""

TITLE = """\
# Performance

Written by `python -m tests.bench.compare --write docs/performance.md`, with every figure in it: run it to have those of
your machine. `--help` lists what else it can do, such as comparing with an earlier zdissect (`--base`).
"""

HOW_TO_READ = """\
## How to read it

All captures are made for this, by a seeded generator, with handshakes, acknowledgements and TCP timestamps as in real
traffic. The tools do the same work in turn, several times; the figures are medians. **Processor time** is that of the
user and the system, of all processes together; other programs on the machine hardly change it, so that it, not the
time on the clock, says how much work something is. Unless it is about cores, zdissect runs on one (`-j 1`). Output goes
to `/dev/null`, so that no disk is measured.

`line`, `tree`, `fields`, `json` and `jsonl` are forms of `-T`; `stats` and `batch` (which writes Parquet) are commands.
Those of tshark are a line for each packet, `-V`, `-T fields` with the same three fields (frame, key or topic, length of
the payload), `-T json`, `-T ek`, and `-q -z io,phs`; it has nothing like `batch`. Its lines are those of packets,
zdissect's are those of messages. scapy prints `summary()` and `show()`, pyshark three values and the whole packet.

**Zenoh and MQTT.** tshark, scapy and pyshark don't know Zenoh by themselves. They read the same samples, with the same
topics and sizes, in the same packets, as MQTT, for which they have dissectors of their own: tshark's is written in C.
An MQTT message has fewer fields than one of Zenoh. A Zenoh plugin that tshark finds by itself is compared on the Zenoh
captures, and one in Lua with `--lua FILE`; if no column is about a plugin, none was there.

**A figure** is messages per second of processor time, without what the program takes to start; behind it, in brackets,
how many times faster zdissect (the first column) is. `–`: the capture was too short to tell. `recognised` is the share
of what was sent that the tool took for the protocol: a check that it did the work. `before` is an earlier zdissect.
"""

START = """\
## Start

Milliseconds of processor time on a capture with a single message.
"""

MEMORY = """\
## Memory

Resident memory of the largest process, in MB: the most of all captures above.
"""

BY_SIZE = """\
## Cost against size

Captures with ten messages in each packet, each twice as long as the one before. If the cost per message (with the start
subtracted) stays the same, twice the messages take twice the time.
"""

BY_CORES = """\
## Cost against cores

The capture of robots, with `-j N`. Time on the clock says what more cores gain; processor time, what dividing costs.
"""

PIPE = """\
## Memory on an endless pipe

A generator writes a capture into `zdissect -T line -`.
"""

ALL = """\
## All figures

The spread is how much more processor time the slowest run took than the fastest, as a share of the median.

<details><summary>Every measurement</summary>
"""
