"""What the help of each command starts with. `capture.pcap` is any capture, `captures` a directory of them."""

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("zdissect capture.pcap", "every frame, as a tree"),
        ("zdissect -T line capture.pcap", "a line per message"),
        ("zdissect -Y 'key_expr within \"a/**\"' capture.pcap", "what matches a filter"),
        ("zdissect -T fields -e key_expr -e sn capture.pcap", "the values that you name"),
        ("zdissect -i lo -T line", "live"),
        ('zdissect hex "5d 01 01 02 62 65"', "bytes from any paste"),
        ("zdissect stats capture.pcap", "a capture in numbers"),
        ("zdissect explain sn-gap", "what a finding means"),
    ),
    "dissect": (
        ("zdissect capture.pcap", "every frame that carries Zenoh, as a tree"),
        ("zdissect --frame 17-20 -x capture.pcap", "some frames, with a hex dump"),
        ("zdissect -O push,request --no-bits capture.pcap", "only these messages in full"),
        ("zdissect -T line --brief -t r capture.pcap", "a line per message, seconds from the first frame"),
        ("zdissect -T line -Y 'response_time_ns > 10ms' capture.pcap", "what matches a display filter"),
        ("zdissect -T fields -E header=y -e frame.number -e key_expr capture.pcap", "the values that you name"),
        ("zdissect -T jsonl capture.pcap", "an object per message, for jq, DuckDB, pandas"),
        ("zdissect -Y 'finding' -w part.pcapng capture.pcap", "a capture of the messages with findings"),
        ("zdissect -q --fail-on error -T line capture.pcap", "in CI: exit with 3 if there is an error"),
        ("zdissect -i lo -f 'tcp port 7447' -T line", "live"),
    ),
    "hex": (
        ('zdissect hex "3d 00 03 6b 2f 61 01 03 31 31 31"', "bytes as any program prints them"),
        ('zdissect hex "[61, 0, 3, 107, 47, 97, 1, 3, 49, 49, 49]"', 'an array; or b"\\x3d\\x00", 3d,00, base64'),
        ('zdissect hex --as timestamp "00 01 2a"', "if you know what the bytes are"),
        ("tcpdump -X -r capture.pcap | zdissect hex", "a dump: xxd, hexdump -C, od, Wireshark, a log, our own tree"),
        ("zdissect hex -f dump.txt", "the same, from a file"),
    ),
    "batch": (
        ("zdissect batch captures -o tables", "a directory to Parquet, on all cores"),
        ("zdissect batch captures -o tables --include '*.pcapng' --payload none", "some files, without payloads"),
        ("duckdb -c \"SELECT key_expr, count(*) FROM 'tables/messages/*.parquet' GROUP BY ALL\"", "then query it"),
    ),
    "stats": (
        ("zdissect stats capture.pcap", "what is in a capture, in numbers"),
        ("zdissect stats --every 1s capture.pcap", "also messages and bytes over time"),
        ("zdissect stats --json --top 0 capture.pcap", "for programs, with all keys"),
    ),
    "sessions": (
        ("zdissect sessions capture.pcap", ""),
        ("zdissect sessions --sort -opener_bytes --csv capture.pcap", "by bytes, largest first, as CSV"),
    ),
    "keys": (
        ("zdissect keys capture.pcap", ""),
        ("zdissect keys --sort -bytes capture.pcap", "by bytes, largest first"),
    ),
    "queries": (
        ("zdissect queries capture.pcap", "each as a tree, hop by hop"),
        ("zdissect queries --table --sort -first_time_ns capture.pcap", "a row each, the slowest first"),
        ("zdissect queries --summary capture.pcap", "times by key, by hop and inside nodes"),
        ("zdissect queries --json capture.pcap", "with all hops and answers"),
    ),
    "samples": (
        ("zdissect samples capture.pcap", "latencies and losses by key, by hop, inside nodes"),
        ("zdissect samples --trees -Y 'key_expr intersects \"robot/**\"' capture.pcap", "each sample of some keys"),
        ("zdissect samples --json -Y 'priority == RealTime' capture.pcap", "for programs"),
    ),
    "declarations": (
        ("zdissect declarations capture.pcap", ""),
        ("zdissect declarations --sort key --csv capture.pcap", "by key, as CSV"),
    ),
    "ros2": (
        ("zdissect ros2 capture.pcap", "an overview"),
        ("zdissect ros2 doctor capture.pcap", "why something doesn't arrive"),
        ("zdissect ros2 topics capture.pcap", "who publishes and subscribes, rates, latencies, loss"),
        ("zdissect ros2 graph --dot capture.pcap", "for Graphviz"),
        ("zdissect ros2 bag capture.pcap -o robot.mcap", "a bag for ros2 bag play, Foxglove"),
        ("zdissect ros2 --json --msgs DIR capture.pcap", "everything, with contents of your own types"),
    ),
    "findings": (
        ("zdissect findings capture.pcap", ""),
        (
            "zdissect findings --sort -severity --fail-on error capture.pcap",
            "worst first; exit with 3 if there is an error",
        ),
    ),
    "check": (
        ("zdissect check capture.pcap", "who broke which rule"),
        ("zdissect check --for receiver --profile rust-1.10 capture.pcap", "how answers look to Rust"),
        ("zdissect check --write-baseline known.json capture.pcap", "what is known; then --baseline known.json"),
        ("zdissect check --save report.sarif --save report.xml capture.pcap", "in a build: docs/ci.md"),
    ),
    "diff": (
        ("zdissect diff capture.pcap robot.pcap", "what is different"),
        (
            "zdissect diff --session 1:1 --ignore 'put.payload' capture.pcap robot.pcap",
            "two sessions, without payloads",
        ),
    ),
    "why": (
        ("zdissect why --key robot/7/pose --to 30f9 capture.pcap", "by the first digits of a ZenohID"),
        ("zdissect why --key 'robot/**' --to 30f9 --from 6def --json capture.pcap", "of one sender; for programs"),
    ),
    "top": (
        ("zdissect top -i lo", "live"),
        ("zdissect top capture.pcap", "the final table of a file"),
        ("zdissect top --json -i lo", "an object a second, for programs"),
    ),
    "follow": (
        ("zdissect follow 1 capture.pcap", "a session, by its number in `zdissect sessions`"),
        ("zdissect follow 'svc/**' capture.pcap", "a key expression"),
        ("zdissect follow --raw 'svc/**' capture.pcap", "only the bytes of its payloads"),
    ),
    "anonymize": (
        ("zdissect anonymize capture.pcap shared.pcapng", "a capture that can be shared"),
        (
            "zdissect anonymize --keep ros2 --seed s3cret capture.pcap shared.pcapng",
            "with the same replacements each time",
        ),
    ),
    "payloads": (
        ("zdissect export payloads capture.pcap -o out", "all of them"),
        ("zdissect export payloads capture.pcap --key 'robot/*/camera' -o out", "by key"),
        ("zdissect export payloads capture.pcap -Y 'encoding contains json' -o out", "by a display filter"),
    ),
    "filter": (
        (
            "zdissect filter 'key_expr within \"robot/**\" and payload_len > 1000'",
            "is it valid, and what does it read?",
        ),
        ("zdissect filter --sql 'payload[0:4] == 00:01:00:00'", "as SQL of DuckDB"),
        ("zdissect filter --sql spark 'severity >= warning'", "as SQL of Spark"),
    ),
    "fields": (
        ("zdissect fields timestamp", "fields, by a part of their names"),
        ("zdissect fields 'zenoh.push.*'", "by wildcards"),
        ("zdissect fields --aliases keyexpr", "by the names of other tools"),
    ),
    "explain": (
        ("zdissect explain sn-gap", "a finding"),
        ("zdissect explain PUSH zenoh.push.scope", "a message as a figure, and a field"),
        ("zdissect explain congestion control", "a list of values"),
    ),
    "config": (
        ("zdissect config", "the settings in force, and where each comes from"),
        ("zdissect config --example", "a file to start from"),
    ),
    "completion": (
        ("zdissect completion bash >> ~/.bash_completion", "turns it on for bash"),
        ("zdissect completion zsh > ~/.zfunc/_zdissect", "for zsh, in a directory of $fpath"),
        ("zdissect completion fish > ~/.config/fish/completions/zdissect.fish", "for fish"),
    ),
}
"""By command (empty: the program; dissect: all about `zdissect FILE...`): command lines, and what each does."""
