"""Faults planted in the fast ways of reading: each a small change of the source, and what is wrong with it."""

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault."""

    name: str
    why: str
    """What goes wrong with it."""
    file: str
    """Below zdissect/."""
    before: str
    """Text that stands there once."""
    after: str


TEMPLATES = "engine/templates.py"
LAZY = "engine/lazy_messages.py"
LEARNED = "vector/learned.py"
SHAPES = "vector/shapes.py"
LANES = "vector/lane_reader.py"
LOCKSTEP = "vector/lockstep.py"
COLUMNS = "export/block_rows.py"
USUAL = "session/usual_messages.py"
COLUMNS_OF_USUAL = "vector/usual_batches.py"
CELLS = "export/message_batches.py"
LINES = "output/jsonl.py"
MEMBERS = "output/member_stencils.py"
TABLE = "table.py"
STENCILS, LINE_STENCILS = "output/stencils.py", "output/line_stencils.py"
DOCUMENTS = "output/documents.py"
COURSE = "vector/course.py"
FEED = "vector/feed.py"
BLOCKS = "export/block_tables.py"
ROW_CELLS = "output/row_cells.py"
SELECTION = "filters/row_selection.py"

FAULTS = (
    Fault("source-sn", "Each sample made from a template says that its source counts from 0.",
          TEMPLATES, 'row["source_sn"] = source_sn', 'row["source_sn"] = 0'),
    Fault("attachment-is-payload", "The attachment of each such message is its payload.",
          TEMPLATES, 'row["attachment"] = attachment', 'row["attachment"] = payload'),
    Fault("empty-payload", "A payload of no bytes is none at all.",
          TEMPLATES, "if payload is not None:", "if payload:"),
    Fault("extension-length", "Extensions keep the length that the first message had.",
          TEMPLATES, '{"length": len(body), "value": body}', '{"value": body}'),
    Fault("extensions-changed-about", "Two extensions that change take each other's bytes.",
          TEMPLATES, "zip(self.changing, bodies, strict=True)", "zip(self.changing[::-1], bodies, strict=True)"),
    Fault("span-of-the-next", "A message has the fields of the one behind it too.",
          LAZY, "self.tape.place_of(self.number + 1)", "self.tape.place_of(-1)"),
    Fault("changes-get-lost", "What somebody has written into a row isn't in the tables.",
          LAZY, "self.template = None\n        return self.made", "return self.made"),
    Fault("place-of-the-header", "Each finding is said to be at the header byte of its message.",
          LAZY, "if span[0].path == path), (start", "if span[0].path == self), (start"),
    Fault("extensions-of-the-first", "Extensions that change are taken for those of the template.",
          LEARNED, "Template(row, changing_extensions(message))", "Template(row)"),
    Fault("channel", "The templates of one channel are used for the other.",
          LEARNED, "key = (flag, *chunks)", "key = (0, *chunks)"),
    Fault("key-without-what-is-put-in", "A suffix, a request id... of the first message is in all that are alike.",
          LEARNED, "self.templates.append(template.having(row))", "self.templates.append(template)"),
    Fault("key-without-the-rest", "Messages that differ in what doesn't change are taken for each other.",
          LEARNED, "for place in fixed])", "for place in fixed[:1]])"),
    Fault("words-of-the-first", "A hash alone tells messages apart.",
          SHAPES, "(self.words[:, at] == key).all(axis=0)", "self.hashes[at] == hashes"),
    Fault("extension-not-filled", "Bytes that are left in an extension behind its fields are passed over in silence.",
          LANES, "lanes.only(lanes.at == lanes.bound)", "lanes.only(lanes.at <= lanes.bound)"),
    Fault("overlong-integers", "Integers in more bytes than they need are read without a finding.",
          LANES, "good = (second != 0) | (more == 0) if limit", "good = (second != 256) if limit"),
    Fault("widths", "Integers that are too wide for their field are read.",
          LANES, "good &= lanes.value <= np.uint64(limit)", "good &= lanes.value >= 0"),
    Fault("twice-the-same", "An extension that is there twice is read as if both counted.",
          LANES, "if program.keep or key in before:", "if program.keep:"),
    Fault("outside-of-frames", "A network message without a FRAME around it is read.",
          LOCKSTEP, "self.good[batch[self.sn[batch] < 0]] = False", "self.good[batch[self.sn[batch] < -1]] = False"),
    Fault("behind-the-end", "A message that runs beyond its batch is read.",
          LOCKSTEP, "self.good &= self.at == self.stop", "self.good &= self.at >= self.stop"),
    Fault("length-prefix", "The length of a batch isn't looked at.",
          LOCKSTEP, ".astype(np.int64) == stop - self.at", ".astype(np.int64) >= 0"),
    Fault("time-unchecked", "A time that is wrong is no finding in a message whose like was seen before.",
          USUAL, "            self.session.timestamps.feed(message, frame)\n", "            pass\n"),
    Fault("old-keys", "A key that is declared anew is still the old one.",
          USUAL, " or session.epoch != self.epoch", ""),
    Fault("other-session", "Behind a new handshake the keys are those of the old session.",
          "session/state.py", 'link.session.epoch += 1\n            link.names = [None, None]',
          "link.names = [None, None]"),
    Fault("unknown-keys", "A key that is freed is still there.",
          "session/network_layer.py", "return\n    session.epoch += 1", "return"),
    Fault("answers-not-missed", "No message shows that a request has no end.",
          "session/state.py", "        self.passed(session, item)\n        if session", "        if session"),
    Fault("other-channel", "Behind a message with R inverted the next one like it goes unnoticed.",
          USUAL, "(channel.astray or (chain", "((chain"),
    Fault("gaps", "Numbers that are missing aren't missed.",
          USUAL, " or channel.expected != sn", ""),
    Fault("chains", "A FRAME within a fragmented message is nothing worth saying.",
          USUAL, "(chain is not None and (chain.open or chain.broken))", "(chain is not None and chain.broken)"),
    Fault("broken-chains", "A FRAME doesn't end a chain that lacks a piece.",
          USUAL, "(chain is not None and (chain.open or chain.broken))", "(chain is not None and chain.open)"),
    Fault("spare-numbers", "Behind a FRAME a number may be left out, as behind fragments.",
          USUAL, "channel.take(sn, NONE)", "channel.take(sn, channel.spare)"),
    Fault("wrapping", "Numbers don't start again from 0.",
          USUAL, "channel.take(sn, NONE)", "channel.take(sn, NONE)\n        channel.expected = sn + 1"),
    Fault("older-samples", "A sample that is older than the one before is nothing worth saying.",
          USUAL, "if stamp is not None and not", "if stamp is None and not"),
    Fault("said-once", "What is wrong with a message is said of the first of its kind only.",
          "session/state.py", " and len(remarks) == before", ""),
    Fault("keys-not-resolved", "Messages of a template have no key expressions.",
          USUAL, "Learned(Template(row)", "Learned(template"),
    Fault("last-time", "Rates are as if only the first of the messages of a kind had come.",
          "stats/__init__.py", "known[2] = frame.now_ns", "known[2] = max(known[2], 0)"),
    Fault("bytes-of-payloads", "The payloads of a key are as long as the messages that carry them.",
          COLUMNS_OF_USUAL, "np.maximum(walked.payload_size[here], 0)", "walked.stop[here] - walked.start[here]"),
    Fault("last-of-a-kind", "The last message of a kind is taken to be the first.",
          COLUMNS_OF_USUAL, "last[kind] = np.arange(len(kind))", "last[kind[::-1]] = np.arange(len(kind))[::-1]"),
    Fault("kinds-that-end-together", "Of messages that end a batch that of the first kind is taken to be the last.",
          COLUMNS_OF_USUAL, "order = np.argsort(self.last)", "order = np.arange(len(self.last))"),
    Fault("frames-counted-twice", "What is in a FRAME counts besides that, where both are chosen.",
          COLUMNS_OF_USUAL, "counts = (whole.is_frame | ~self.mask[whole.around])[self.mask]",
          "counts = here >= 0"),
    Fault("batches-without-chosen-ones", "A batch without chosen messages counts with all its bytes.",
          "stats/__init__.py", "next(counted) if counts else (0, 0)", "next(counted) if counts else (whole, 0)"),
    Fault("first-value", "The value of a key is that of the first message of a kind.",
          "stats/activity.py", "usual.rows([tally.last for tally in tallies])", "usual.rows([0 for _ in tallies])"),
    Fault("frames-around", "A FRAME has a line besides those of its messages.",
          COLUMNS_OF_USUAL, "lines[around[inside]] = False", "pass"),
    Fault("every-number", "All messages in a FRAME have its number in their lines.",
          COLUMNS_OF_USUAL, "np.diff(around[inside], prepend=-1) != 0", "around[inside] >= 0"),
    Fault("chosen-batches", "A filter on columns takes all that a batch decides for chosen.",
          SELECTION, "selected and of_batch[at]", "selected"),
    Fault("chosen-rows", "A filter on columns selects by the template alone.",
          SELECTION, "out[place] = others(row)", "others(row)"),
    Fault("directions", "Both directions of a conversation have the sender of the first.",
          TABLE, "return flow.id, item.direction, item.buffer.name", "return flow.id, item.buffer.name"),
    Fault("what-was-known", "It isn't said what became known of a conversation after its first message.",
          TABLE, "flow.link, flow.verdict", "flow.link"),
    Fault("length-of-what-is-kept", "The table says that payloads have the length to which they were cut.",
          COLUMNS, 'self.put("payload_len", size, start < 0)',
          'self.put("payload_len", np.minimum(size, self.payload or 1 << 40), start < 0)'),
    Fault("numbering", "Messages of a frame are numbered from 0 for each batch in it.",
          CELLS, "self._indices.extend(range(index, index + count))", "self._indices.extend(range(count))"),
    Fault("lines-with-the-first-extensions", "Extensions that change are written as those of the template.",
          LINES, "if extensions is not None:", "if extensions is None:"),
    Fault("places-of-the-first", "JSON has the places of the first message with a template behind what changes.",
          MEMBERS, "self.anchor = last", "self.anchor = min(last, 0)"),
    Fault("size-of-a-frame", "JSON says of a FRAME that it ends before the messages in it.",
          MEMBERS, "elif index == _SIZE:", "elif index == -1:"),
    Fault("sizes-of-the-first", "JSON has the sizes of the first message with a template.",
          MEMBERS, "str((size << 3) + more)", "str(more)"),
    Fault("messages-of-the-batch", "JSON lists the messages in a FRAME beside it.",
          DOCUMENTS, """(True, False): ',"messages":['""", """(True, False): '},'"""),
    Fault("offsets-behind-what-changes", "Lines behind a sequence number have the offsets of the first message.",
          LINE_STENCILS, "self.anchor, self.base = 2 * number + 2, stop", "self.anchor, self.base = 0, self.base"),
    Fault("lengths-of-the-first", "An extension with a time has the length that the first one had.",
          STENCILS, "(varies and field is EXT_LENGTH)", "(not varies and field is EXT_LENGTH)"),
    Fault("encodings-of-stencils", "A payload is shown as if nothing said how to read it.",
          LINE_STENCILS, "encoding = encoding_text(value >> 1, None)", "encoding = str()"),
    Fault("stencils-without-keys", "The tree doesn't say what the keys of usual messages are.",
          LINE_STENCILS, "brackets(row, 0 in folds.stops)", "brackets({}, 0 in folds.stops)"),
    Fault("folded-as-shown", "With -Y, messages that aren't selected are shown in full where they are usual.",
          STENCILS, "self.known.get((one, shown))", "self.known.get((one, True))"),
    Fault("cells-of-templates", "-T fields says nothing of what messages with a template don't have in common.",
          ROW_CELLS, "make(value) if value is not None and", "make(value) if value is None and"),
    Fault("first-in-its-frame", "-T csv numbers the messages of a batch as if they were the first of their frame.",
          ROW_CELLS, "make(item.first[sent] + number)", "make(item.first[sent])"),
    Fault("never-the-rest", "A filter selects by the template alone.",
          SELECTION, "if selected and others is not None:", "if False:"),
    Fault("never-the-batch", "A filter doesn't ask what a batch decides.",
          SELECTION, "not self._of_item(where)", "False"),
    Fault("shared-session", "Messages of a link are taken at once though another link carries the session, too.",
          COURSE, "at < self.single or self.session.shared", "at < self.single"),
    Fault("run-beyond-deadlines", "Usual messages are taken beyond the time at which something is overdue.",
          COURSE, "stop = at + int(late.argmax())", "stop = max(stop, at)"),
    Fault("run-beyond-new-deadlines", "A run that is taken in two parts ends where it would have without a request.",
          COURSE, "self.stop = batch + 1 + int(late.argmax())\n                    stop = min(stop, self.stop)",
          "stop = min(stop, batch + 1 + int(late.argmax()))"),
    Fault("facts-of-old-terms", "What is usual in a block stays so beyond a handshake that lowers the size of batches.",
          COURSE, "if self._terms() != self.terms:", "if self._terms() is None:"),
    Fault("requests-not-listed", "Ticks don't look at sessions whose requests were read in a run.",
          COURSE, "if session.awaited.due_ns < session.listed_ns:", "if session.listed_ns < 0:"),
    Fault("silence-since-the-run", "A side was last heard before the run, not at its end.",
          COURSE, "int(self.now_ns[places[after - 1]]), False", "pulse.last_ns, False"),
    Fault("asked-behind-ticks", "Ticks don't know of requests in runs that are taken later.",
          FEED, "            if course.ruled:\n", "            if not course.ruled:\n"),
    Fault("join-behind", "A run goes on as before when a second link joins its session.",
          FEED, "            course.stop = course.at\n", "            course.stop += 0\n"),
    Fault("rows-before-their-open", "What follows an OPEN in its segment comes before it.",
          BLOCKS, "key = max(key, self.keys[-1])", "key = min(key, self.keys[-1])"),
    Fault("findings-of-runs", "Findings of runs come behind those of later frames.",
          BLOCKS, "sorted(self.found, key=itemgetter(0))", "self.found"),
)  # fmt: skip
