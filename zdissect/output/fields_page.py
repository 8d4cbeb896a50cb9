"""The reference of all fields, generated from the grammar: `python -m zdissect.output.fields_page > docs/fields.md`."""

from collections.abc import Iterable, Iterator

from zdissect.grammar import enums
from zdissect.grammar.aliases import aliases
from zdissect.grammar.derived import DERIVED
from zdissect.grammar.field import (
    EXT_HEADER,
    EXT_LENGTH,
    EXT_NUMBER,
    EXT_UNKNOWN,
    EXT_VALUE,
    UNDECODED,
    Field,
)
from zdissect.grammar.registry import MESSAGES, UNITS, PlacedMessage, PlacedNode, place
from zdissect.grammar.types import (
    ENC_NAMES,
    Bit,
    Choice,
    Enum,
    Extension,
    Extensions,
    Group,
    Message,
    Repeat,
)
from zdissect.output.figures import figure
from zdissect.output.notes import linked

LAYERS = {
    "scouting": "Scouting messages",
    "transport": "Transport messages",
    "network": "Network messages",
    "declaration": "Declarations, the bodies of DECLARE",
    "data": "Data sub-messages, the bodies of PUSH, REQUEST and RESPONSE",
}

INTRODUCTION = """# Fields

Every field that zdissect knows, by the name that `zdissect fields`, `zdissect explain` and `-T json` use. This page is
generated from the grammar: `python -m zdissect.output.fields_page > docs/fields.md`.

In the figures a row is a byte (`|`), a variable-length integer (`%`) or something of variable length (`~`). The least
significant bit is on the right; `X` is a reserved bit. A row marked `if` is present where the condition holds, which
names flags of the header and fields above it. *Column* is the column of the message table that the field fills.

References: `push#PUSH Extensions` is a section of the specification page *push*; `notes 2.3` is a section of
[wire-notes.md](wire-notes.md), which tell what the released implementation does.

Text or bytes with a length in front (`<u8;z16>`: a variable-length integer of up to 16 bits, then that many bytes) are
one field. The length isn't a field of its own; it is part of the bytes that the field covers.

Receivers refuse an integer `z16` of more than 16 bits. They differ on one that `wraps at 32`: the Rust codec keeps its
low 32 bits, zenoh-pico refuses it.
"""

GENERIC = """Each extension, known or not, has a header and, if it is a ZBuf with a structure, a length. One that isn't
known for its message is `zenoh.ext` with its value."""

OTHER_NAMES = """Names of the Wireshark plugin and of kydos/zenoh-wireshark are accepted too. *In* names the messages
that must hold the field, from the outside in: the last is the field's own. Where a name stands for several fields, any
of them counts."""

DERIVED_FIELDS = """Facts that follow from several messages, and own no bytes. Each is a column of the message table
and is shown in brackets by the tree. One without a column depends on later messages, so that it takes a second pass
over the capture; `zenoh` alone is true of every message."""

_FEW = 8  # as many names of values stand in a line


def fields_markdown() -> str:
    """The whole page."""
    parts = [INTRODUCTION, "## What links carry", *(_section(place(unit)) for unit in UNITS)]
    for layer, title in LAYERS.items():
        parts.append(f"## {title}")
        parts += [_section(place(message)) for message in MESSAGES if message.layer == layer]
    parts += ["## Fields of any message", _generic(), "## Derived fields", _derived()]
    parts += ["## Values", _values(), "## Other names", _aliases()]
    return linked("\n\n".join(part.strip("\n") for part in parts)) + "\n"


def _section(placed: PlacedMessage) -> str:
    """A message: what it is, its figure, its fields, its extensions."""
    node = placed.node
    title = f"{node.name} (0x{node.id:02x})" if isinstance(node, Message) else node.name.capitalize()
    out = [f"### {title}", f"{node.doc} *Reference: {node.spec}.* Field: `{placed.field.path}`."]
    if isinstance(node, Message):
        for flag, (off, on) in node.labels.items():
            out.append(f"Named {off} where {flag} is 0, {on} where it is 1.")
    else:
        out.append(f"The framing gives {', '.join(f'`{name}`' for name in node.inputs) or 'nothing'}.")
    out.append("```\n" + "\n".join(figure(placed)) + "\n```")
    head = [placed.header, *placed.header.bits] if placed.header else []
    out.append(_table([*(_row(field, "") for field in head), *_rows(placed.inside)]))
    out += _chains(placed.inside)
    return "\n\n".join(filter(None, out))


# --- tables


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return _markdown(("Field", "Type", "If", "Column", "Description"), rows)


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table; rows that are the same appear once."""
    cells = ((cell.replace("|", "\\|") for cell in row) for row in rows)
    lines = dict.fromkeys(f"| {' | '.join(row)} |" for row in cells)
    return "\n".join((f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines)) if lines else ""


def _rows(places: tuple[PlacedNode, ...]) -> Iterator[tuple[str, ...]]:
    """Rows for fields, in the order of the wire, without extensions."""
    for placed in places:
        node = placed.node
        if isinstance(node, Extension | Extensions | Choice):
            continue
        if placed.count and isinstance(node, Repeat):
            yield _row(placed.count.field, node.when)
        if not isinstance(node, Group) or node.name:
            yield _row(placed.field, node.when)
        if placed.count and isinstance(node, Group):
            yield from _rows((placed.count,))
        yield from (_row(bit, "") for bit in placed.field.bits)
        if placed.item is not None and len(placed.inside) > 1:
            yield _row(placed.item, "")
        yield from _rows(placed.inside)


def _row(field: Field, when: str) -> tuple[str, ...]:
    node, kind, doc = field.node, field.type if field.type != "none" else field.kind, field.doc
    if isinstance(node, Bit):
        high = node.low + node.width - 1
        doc = f"Bit {node.low}: {doc}" if node.width == 1 else f"Bits {high}..{node.low}: {doc}"
        doc += f" 0 {node.says[0]}, 1 {node.says[1]}." if node.says else ""
    elif field.keeps:
        doc += f" Wraps at {field.keeps} bits."
    if field.enum is not None:
        doc += f" {_names(field.enum)}"
    return f"`{field.path}`", kind, f"`{when}`" if when else "", f"`{field.column}`" if field.column else "", doc


def _names(enum: Enum) -> str:
    if len(enum.names) > _FEW:
        return f"Values: [{enum.title}](#values)."
    return ", ".join(f"{value} {name}" for value, name in enum.names.items()) + "."


def _chains(places: tuple[PlacedNode, ...]) -> Iterator[str]:
    """The extensions below these places, and the fields of each; nested chains after the chain that holds them."""
    for placed in places:
        known = [(inside.field.path, inside.node) for inside in placed.inside if isinstance(inside.node, Extension)]
        if isinstance(placed.node, Extensions):
            yield "Extensions:" if known else "No extension is defined; unknown ones are shown as `zenoh.ext`."
        if known:
            yield _markdown(("Header", "Id", "ENC", "M", "Field", "Description", "Reference"), map(_extension, known))
            yield _table(row for inside in placed.inside for row in _rows(inside.inside))
        yield from _chains(placed.inside)


def _extension(known: tuple[str, Extension]) -> tuple[str, ...]:
    path, ext = known
    enc, mandatory = ENC_NAMES[ext.enc], str(int(ext.mandatory))
    return f"0x{ext.key:02x}", f"0x{ext.id:x}", enc, mandatory, f"`{path}`", ext.doc, ext.spec


def _generic() -> str:
    header = EXT_HEADER
    rest = (EXT_LENGTH, EXT_VALUE, EXT_NUMBER, UNDECODED)
    return f"{GENERIC}\n\n{_table(_row(field, '') for field in (EXT_UNKNOWN, header, *header.bits, *rest))}"


def _values() -> str:
    """The names of values that have a description or are too many for a line."""
    out = []
    for enum in vars(enums).values():
        if isinstance(enum, Enum) and (enum.docs or len(enum.names) > _FEW):
            rows = ((str(value), name, enum.docs.get(value, "")) for value, name in enum.names.items())
            out += [f"**{enum.title[0].upper()}{enum.title[1:]}**", _markdown(("Value", "Name", "Meaning"), rows)]
    return "\n\n".join(out)


def _aliases() -> str:
    """Names of other tools."""
    rows = ((f"`{name}`", f"`{'`, `'.join((path, *also))}`", when) for name, (path, when, also) in aliases().items())
    return f"{OTHER_NAMES}\n\n{_markdown(('Name', 'Field', 'In'), rows)}"


def _derived() -> str:
    """The derived fields."""
    rows = (
        (f"`{field.path}`", f"`{field.type}`", field.column and f"`{field.column}`", field.doc) for field in DERIVED
    )
    return f"{DERIVED_FIELDS}\n\n{_markdown(('Field', 'Type', 'Column', 'Description'), rows)}"


if __name__ == "__main__":
    print(fields_markdown(), end="")
