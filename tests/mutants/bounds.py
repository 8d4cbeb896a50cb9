"""Faults planted in what bounds time and memory, in what finds its place again, and in what accounts for bytes."""

from tests.mutants.fault import Fault

DISSECTIONS, FEED, FRAME_BLOCKS = "vector/dissections.py", "vector/feed.py", "vector/frame_blocks.py"
ASSEMBLER, TCP, DATAGRAMS = "flow/assembler.py", "flow/tcp.py", "flow/datagrams.py"
FINDER, RESYNC = "flow/websocket_finder.py", "flow/resync.py"
PARTS, WHOLE = ("tests/hostile/test_parts.py",), ("tests/vector/test_full_blocks.py",)
KEYS, COUNTED = ("tests/hostile/test_long_keys.py",), ("tests/stats/test_undelivered.py",)
WEBSOCKET = ("tests/flow/websocket",)
SEARCH = ("tests/hostile/test_boundary_search.py",)
SIZES = ("tests/vector/test_frame_blocks.py",)
TOO_MANY = "            if len(self.spans) > MOST_SPANS:\n                raise self.too_many(pos)\n"
COMPOSITES, UNITS = "engine/composites.py", ("tests/engine/test_linear.py",)
INTERVAL = "for index, count in enumerate(counts):\n                into[index]"
GROUPS = ("tests/parallel/test_stats_of_groups.py",)

FAULTS = (
    Fault("messages-without-end", "A unit has any number of messages.",
          COMPOSITES, f"{TOO_MANY}            if ident in", "            if ident in", UNITS),
    Fault("extensions-without-end", "A message has any number of extensions.",
          COMPOSITES, "            if len(spans) > MOST_SPANS:", "            if False:", UNITS),
    Fault("repeats-without-end", "What is repeated is so any number of times.",
          COMPOSITES, f"{TOO_MANY}            if single", "            if single", UNITS),
    Fault("parts-without-end", "What a frame brings is made as a whole.",
          "dissection.py", "if size >= PART_BYTES:", "if size < 0:", PARTS),
    Fault("gathered-without-end", "What frames bring is gathered to their end.",
          "fed.py", "if size >= _TOGETHER:", "if size < 0:", PARTS),
    Fault("blocks-hold-all", "Blocks are given when all of them was fed.",
          DISSECTIONS, "return self.held >= self.most", "return False", PARTS),
    Fault("rest-of-a-frame", "Of a frame that brings much, the rest gets lost.",
          DISSECTIONS, "        yield from rest\n", "        del rest\n", WHOLE),
    Fault("given-again", "What a block has given is given again.",
          DISSECTIONS, "self.given, self.held = stop, 0", "self.given, self.held = 0, 0", WHOLE),
    Fault("runs-given-later", "When a block is given in between, runs up to there aren't taken.",
          FEED, "        for course in self.courses:\n            self.settle(course)\n", "", WHOLE),
    Fault("density", "Blocks have as many frames however many messages these hold.",
          FRAME_BLOCKS, "MOST_FRAMES, self.fitting)", "MOST_FRAMES)", SIZES),
    Fault("keys-without-end", "All long keys of a batch are resolved.",
          "session/session_memory.py", "if self.held + size > self.most and", "if False and", KEYS),
    Fault("keys-for-ever", "A batch has fewer keys if the one before had many.",
          "session/session_memory.py", '        """The next batch begins."""\n        self.held = 0\n',
          '        """The next batch begins."""\n', KEYS),
    Fault("keys-on-the-wire", "Long keys that were sent in full are left out, too.",
          "session/session_memory.py", ' and row.get("key_scope") != 0', "", KEYS),
    Fault("long-keys-are-usual", "Messages with long keys are taken in runs, where nobody counts them.",
          "session/usual_messages.py", "> LONGEST:  # how", "> 1 << 30:  # how", KEYS),
    Fault("no-key-is-usual", "A key that was left out once is left out ever after.",
          "session/state.py", "(len(remarks), keys.left_out) == before", "len(remarks) == before[0]", KEYS),
    Fault("findings-with-keys", "Findings show long keys in full.",
          "session/message_checks.py", "f\"'{shown(text)}' {problem}\"", "f\"'{text}' {problem}\"", KEYS),
    Fault("beyond-the-end", "Bytes after the end of a stream are in no class.",
          ASSEMBLER, "self.undelivered += size - len(data)", "self.undelivered += 0", COUNTED),
    Fault("sent-again", "Bytes that come again are counted as if a segment held nothing else.",
          ASSEMBLER, "self.undelivered += min(old, len(data))", "self.undelivered += old + len(data)", COUNTED),
    Fault("waiting-again", "Bytes that come again while they wait are in no class.",
          ASSEMBLER, "self.undelivered += both - position", "self.undelivered += 0", COUNTED),
    Fault("waiting-at-the-end", "Bytes that wait behind an end are in no class.",
          ASSEMBLER, "self.undelivered += pending.size", "self.undelivered += 0", COUNTED),
    Fault("strays", "Segments of no connection are in no class.",
          TCP, "self.undelivered += len(segment.payload)", "self.undelivered += 0", COUNTED),
    Fault("copies", "Copies of datagrams are in no class.",
          DATAGRAMS, "self.repeated += len(datagram.payload)", "self.repeated += 0", COUNTED),
    Fault("websocket-headers", "Framing counts the messages in WebSocket frames, too.",
          "flow/websocket_frames.py", "around=self.cost - self.size", "around=self.cost", COUNTED),
    Fault("framing", "Framing isn't counted.",
          "stats/accounting.py", "self.framing += item.around", "self.framing += 0", COUNTED),
    Fault("message-before-damage", "A message proves nothing if the one behind it is damaged.",
          FINDER, "if framing is not None and not framing.low_latency and", "if False and", WEBSOCKET),
    Fault("reads-for-ever", "Guesses in a stream have no budget.",
          RESYNC, "if self.credit > 0 else None", "if True else None", SEARCH),
    Fault("scans-again", "A place in a stream that was ruled out is looked at again.",
          RESYNC, "at = self.scanned = start - prefix", "at = start - prefix", SEARCH),
    Fault("groups-first", "What groups have met is in the order of the groups.",
          "stats/came.py", "sorted((*one.items(), *other.items()), key=itemgetter(1))",
          "(*one.items(), *other.items())", GROUPS),
    Fault("groups-nowhere", "Groups don't note where keys have sources and paths.",
          "stats/of_groups.py", "self.at = self.keys.at = self.sessions.at = at",
          "self.at = self.sessions.at = at", GROUPS),
    Fault("groups-sessions", "Sessions that begin at the same time are in the order of the groups.",
          "stats/sessions.py", "sorted(entries, key=itemgetter(0))",
          "sorted(entries, key=lambda one: one[0][0])", GROUPS),
    Fault("groups-findings", "The first finding is that of the last group.",
          "stats/of_groups.py", "self.firsts[code] = min(known, first)", "self.firsts[code] = first", GROUPS),
    Fault("groups-intervals", "Of an interval only what one group has counted is told.",
          "stats/over_time.py", f"{INTERVAL} += count\n\n", f"{INTERVAL} = count\n\n", GROUPS),
)  # fmt: skip
