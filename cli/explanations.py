"""What `zdissect explain` says: of findings, messages, fields, columns, values, and names of other tools."""

from collections.abc import Iterator

from zdissect.grammar import enums
from zdissect.grammar.aliases import Alias, aliases, resolve
from zdissect.grammar.columns import COLUMNS
from zdissect.grammar.field import Field
from zdissect.grammar.profiles import PROFILES
from zdissect.grammar.registry import MESSAGES, UNITS, PlacedMessage, fields, place, walk
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import ENC_NAMES, Bit, Enum, Extension, Message
from zdissect.output.figures import figure
from zdissect.output.notes import places
from zdissect.output.rules_page import anchor

_FEW = 12


def explanations(name: str) -> Iterator[str]:
    """Everything that a name means; a name may be that of a finding and of a field. Case doesn't matter."""
    low = name.lower().strip()
    if low in RULES:
        yield _finding(low)
    yield from (_message(placed) for placed in _placed() if low in _labels(placed))
    path = low if low in fields() else f"zenoh.{low}"
    if path in fields() and fields()[path].kind not in ("message", "unit"):
        field = fields()[path]
        yield _derived(field) if field.kind == "derived" else _field(field)
    for column in COLUMNS:
        if column.name == low:
            yield _column(column.name, column.type, column.doc)
    yield from (_values(enum) for enum in _enums() if low in (enum.title.lower(), *_words(enum)))
    alias = resolve(low)
    if alias is not None and low not in fields():
        yield f"{low}: another tool's name for {stands_for(alias)}"


def stands_for(alias: Alias) -> str:
    """What another tool's name means."""
    inside = f", inside {alias.when}" if alias.when else ""
    return f"{' or '.join((alias.path, *alias.also))}{inside}"


def names() -> Iterator[str]:
    """All names that can be explained."""
    yield from RULES
    for placed in _placed():
        yield from (label.upper() for label in _labels(placed) if "." not in label)
    yield from fields()
    yield from (column.name for column in COLUMNS)
    yield from (enum.title for enum in _enums())
    yield from aliases()


def _placed() -> Iterator[PlacedMessage]:
    return (place(entry) for entry in (*UNITS, *MESSAGES))


def _labels(placed: PlacedMessage) -> set[str]:
    """The names of a message, in lower case: its own, those of its variants, that of its field."""
    node = placed.node
    names = {node.name, placed.field.path, placed.field.path.removeprefix("zenoh.")}
    if isinstance(node, Message):
        names |= {label for pair in node.labels.values() for label in pair}
    return {label.lower() for label in names}


def _enums() -> Iterator[Enum]:
    return (enum for enum in vars(enums).values() if isinstance(enum, Enum))


def _words(enum: Enum) -> set[str]:
    """The names of values in capitals (MAX_SESSIONS), and those with a description."""
    return {text.lower() for value, text in enum.names.items() if value in enum.docs}


def _finding(code: str) -> str:
    """Severity, group, meaning, source, and what profiles make of it."""
    rule = RULES[code]
    treated = ((one.name, one.treatments[code]) for one in PROFILES.values() if code in one.treatments)
    counts = [
        f"With --profile {name} of zdissect check: {how.severity or 'nothing'}. {how.why}" for name, how in treated
    ]
    text = f"{code}: finding, {rule.severity}, {rule.group}\n\n{rule.text}\n\n{_source(rule.source, anchor(code))}"
    return "\n".join((text, *(["", *counts] if counts else [])))


def _source(text: str, *others: str) -> str:
    """The source of something, and where that can be read: the sections of docs that it names, and others."""
    pages = ", ".join(filter(None, (places(text), *others)))
    return f"Source: {text}" + (f"\nSee: {pages}" if pages else "")


def _section(placed: PlacedMessage) -> str:
    """Where docs/fields.md has a message or unit: by the anchor that its heading gets."""
    node = placed.node
    return f"docs/fields.md#{node.name.lower()}" + (f"-0x{node.id:02x}" if isinstance(node, Message) else "")


def _message(placed: PlacedMessage) -> str:
    """What a message is, its fields and its extensions; then its figure."""
    node = placed.node
    title = f"{node.name} (0x{node.id:02x}), {node.layer}" if isinstance(node, Message) else f"{node.name}: unit"
    lines = [title, "", node.doc]
    if isinstance(node, Message):
        lines += [f"Named {off} where {flag} is 0, {on} where it is 1." for flag, (off, on) in node.labels.items()]
    own = [*placed.header.bits, *walk(placed.inside)] if placed.header else list(walk(placed.inside))
    rows = [(field.path, _type(field), _note(field)) for field in own]
    lines += ["", *_aligned(rows)] if rows else []
    lines += ["", _source(node.spec, _section(placed)), "", *figure(placed)]
    return "\n".join(lines)


def _field(field: Field) -> str:
    """Type, meaning, values and place of a field."""
    lines = [f"{field.path}: {_type(field)}", "", _note(field), ""]
    if field.column:
        lines.append(f"Column: {field.column}")
    other = [name for name, alias in aliases().items() if alias.path == field.path]
    if other:
        lines.append(f"Other names: {', '.join(other[:_FEW])}")
    around = next((placed for placed in _placed() if field.path.startswith(f"{placed.field.path}.")), None)
    lines.append(_source(field.spec, *([_section(around)] if around else [])))
    if field.enum is not None:
        lines += ["", *_listed(field.enum)]
    if around is not None:
        lines += ["", f"In {around.node.name}:", "", *figure(around)]
    return "\n".join(lines)


def _derived(field: Field) -> str:
    """A field that isn't on the wire."""
    head = [f"{field.path}: derived", *([f"column {field.column}"] if field.column else [])]
    return f"{', '.join(head)}\n\n{field.doc}"


def _column(name: str, kind: str, doc: str) -> str:
    """A column of the message table, and the fields that fill it."""
    filled = [field.path for field in fields().values() if field.column == name]
    text = f"{name}: column of the message table, {kind}\n\n{doc}"
    more = f" and {len(filled) - _FEW} more" if len(filled) > _FEW else ""
    return text + (f"\n\nFilled by {', '.join(filled[:_FEW])}{more}" if filled else "")


def _values(enum: Enum) -> str:
    """The names of values."""
    return "\n".join((f"{enum.title}: values", "", *_listed(enum)))


def _listed(enum: Enum) -> Iterator[str]:
    return _aligned([(str(value), text, enum.docs.get(value, "")) for value, text in enum.names.items()])


def _type(field: Field) -> str:
    return field.type if field.type != "none" else field.kind


def _note(field: Field) -> str:
    """The description of a field, with the bits it stands at, and when it is there."""
    node = field.node
    doc = field.doc
    if isinstance(node, Bit):
        high = node.low + node.width - 1
        doc = f"Bit {node.low}: {doc}" if node.width == 1 else f"Bits {high}..{node.low}: {doc}"
        doc += f" 0 {node.says[0]}, 1 {node.says[1]}." if node.says else ""
    elif isinstance(node, Extension):
        doc += f" Id 0x{node.id:x}, {ENC_NAMES[node.enc]}, {'mandatory' if node.mandatory else 'not mandatory'}."
    elif field.keeps:
        doc += f" The Rust codec keeps {field.keeps} bits of a larger value."
    when = getattr(node, "when", "")
    return f"{doc} If {when}." if when else doc


def _aligned(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    """Lines of three columns."""
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return (f"  {a:<{first}}  {b:<{second}}  {c}".rstrip() for a, b, c in rows)
