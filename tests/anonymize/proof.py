"""What holds of a capture and of what `anonymize` has made of it: the same structure, and nothing that was replaced."""

import re

from zdissect.capture import open_capture
from zdissect.dissection import Dissection, findings
from zdissect.pipeline import Options, dissect
from zdissect.table import Table

REPLACED = frozenset(
    {"file", "src_ip", "dst_ip", "src_zid", "dst_zid", "zid", "key_expr", "key_suffix", "parameters", "payload",
     "encoding", "encoding_schema", "attachment", "timestamp_id", "source_zid", "responder_zid", "node_zid", "cookie",
     "locators", "extensions", "findings"}
)  # fmt: skip
"""Columns whose values differ."""
KEPT = re.compile(
    rb"\w+/(127\.0\.0\.1|\[::1\]):\d+(\?.*)?|(@\w*|router|pub|sub|adv|subscriber|\d|[/*])+|(_[a-z]+(=\d*)?;?)+"
)
"""What stays: loopback, chunks that are Zenoh's own, wildcards, the names of its own parameters. (A digit that is all
that changes in these may become that of another query.)"""
UNCOUNTED = frozenset({"file", "src_ip", "dst_ip", "findings"})
"""Those whose lengths may differ, or that are compared otherwise."""
FOREIGN = "initial-sn-foreign"
"""Says that a first sequence number isn't made from the ZenohIDs: so it is when these are others."""


def items(path, options=None):
    with open_capture(str(path)) as capture:
        return list(dissect(capture, options or Options()))


def structure(found):
    """Everything that stays."""
    out = []
    for item in found:
        codes = sorted(finding.rule.code for finding in findings(item) if finding.rule.code != FOREIGN)
        if isinstance(item, Dissection):
            spans = [(field.path, start, stop) for field, _, start, stop, _ in item.tape.spans]
            for row in Table().rows(item):
                kept = {name: value for name, value in row.items() if name not in REPLACED}
                out.append((kept, {name: shape(row[name]) for name in REPLACED & row.keys() - UNCOUNTED}))
            out.append(
                (type(item).__name__, item.frame.number, item.frames, item.flow.id, item.direction, spans, codes)
            )
        else:
            out.append((type(item).__name__, item.frame.number, item.flow.id, item.direction, codes))
    return out


def shape(value):
    """The length of a value, and of a text its punctuation."""
    if isinstance(value, list):
        return [shape(one) for one in value]
    if isinstance(value, dict):
        return {name: shape(one) if name == "value" else one for name, one in value.items()}
    if isinstance(value, str):
        return "/".join(str(len(chunk)) + re.sub(r"\w|[^\x00-\x7f]", "", chunk) for chunk in value.split("/"))
    return None if value is None else len(value)


def secrets(found):
    """Bytes that must not be found in what was made: of keys, texts, ids, payloads, as they are and reversed."""
    out = set()
    for item in found:
        if not isinstance(item, Dissection):
            continue
        for field, _, _, _, value in item.tape.spans:
            if not field.leaf or field.kind not in ("text", "blob", "rest", "raw") or field.name == "compressed_data":
                continue
            data = value.encode(errors="surrogateescape") if isinstance(value, str) else value
            out |= {data, data[::-1]} if field.render == "zid" else {data}
    return {one for one in out if len(one) >= 6 and len(set(one)) > 2 and not KEPT.fullmatch(one)}


def leaks(wanted, data):
    """Which of these bytes are in others."""
    known = {data[at : at + 6] for at in range(len(data))}
    return [one for one in wanted if one[:6] in known and one in data]


def raw(path):
    """All bytes that anybody can see in a capture: of the file, and of batches after they are decompressed."""
    inside = [item.buffer.data for item in items(path) if isinstance(item, Dissection)]
    return b"\0".join([path.read_bytes(), *inside])
