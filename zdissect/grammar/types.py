"""The kinds of nodes that the grammar is made of.

The grammar is data: frozen values that say what is on the wire, in the order of the wire. They hold no code.
Conditions, sizes and counts are strings in the language of `conditions.py`; values get a meaning from an `Enum` or from
a named rendering (`primitives.py`); rules about single values are named checks (`checks.py`). The engine turns
grammar into programs, the registry gives each field its name, the docs are printed from it.

A field's `doc` is one sentence for people. `spec` says where it comes from: a page and section (`push#PUSH Extensions`)
or a section of docs/wire-notes.md (`notes 2.3`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

UNIT, Z64, ZBUF, RESERVED = 0, 1, 2, 3
"""Encodings of an extension's body (ENC, bits 6..5 of its header)."""

ENC_NAMES = ("Unit", "Z64", "ZBuf", "reserved")

ALWAYS = "1"
"""The condition that always holds."""


@dataclass(frozen=True, slots=True, eq=False)
class Enum:
    """Names of the values of a field.

    `strict` names the finding for a value without a name; empty where other values are legal. `otherwise` is what
    receivers read such a value as, if they don't refuse it.
    """

    title: str
    names: Mapping[int, str]
    docs: Mapping[int, str] = field(default_factory=dict)
    strict: str = ""
    otherwise: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Bit:
    """A bit field: `width` bits from bit `low` (0 is the least significant) of a byte or of an integer.

    `says` words the values 0 and 1 of a single bit; `enum` names the values of a wider one.
    """

    name: str
    low: int
    doc: str
    width: int = 1
    says: tuple[str, str] | None = None
    enum: Enum | None = None
    column: str = ""
    reserved: bool = False
    under: str = ""
    """The bit of the same byte without which its column has no meaning."""
    plus: int = 0
    """Added to the value for its meaning (length fields that store n - 1)."""

    @property
    def mask(self) -> int:
        """The bits of this field, in place."""
        return ((1 << self.width) - 1) << self.low

    def of(self, value: int) -> int:
        """What this field holds in a byte or integer."""
        return (value & self.mask) >> self.low


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """One byte made of bit fields, which must fill it."""

    name: str
    bits: tuple[Bit, ...]
    doc: str
    when: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Vle:
    """Zenoh's variable-length integer (notes 1.1); `width` is its nominal width in bits (8, 16, 32 or 64).

    `bits` are bit fields of the value. `column` is its column in the message table. Receivers refuse a value that is
    wider than `width`; but with `keeps`, the Rust codec keeps so many low bits of it and goes on (where `keeps` is less
    than `width`, of a value that isn't wider than that).
    """

    name: str
    width: int
    doc: str
    when: str = ""
    enum: Enum | None = None
    render: str = ""
    bits: tuple[Bit, ...] = ()
    column: str = ""
    check: str = ""
    scale: int = 1
    """Factor from the value to the unit of its column."""
    keeps: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A field of a fixed number of bytes: a little-endian integer, or (`raw`) bytes. `size` may be an expression."""

    name: str
    size: int | str
    doc: str
    when: str = ""
    raw: bool = False
    enum: Enum | None = None
    render: str = ""
    column: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A length (VLE of nominal width `length`) and that many bytes of UTF-8. Receivers refuse other bytes, except where
    `any_bytes` holds: there any bytes are legal, and text is merely usual."""

    name: str
    length: int
    doc: str
    when: str = ""
    render: str = ""
    column: str = ""
    check: str = ""
    any_bytes: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Blob:
    """A length (VLE of nominal width `length`) and that many bytes."""

    name: str
    length: int
    doc: str
    when: str = ""
    render: str = ""
    column: str = ""
    check: str = ""
    yields_to: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """All bytes that are left in the innermost length-delimited region, as bytes or (`text`) as UTF-8."""

    name: str
    doc: str
    when: str = ""
    text: bool = False
    render: str = ""
    column: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Fields that belong together.

    With `length` (nominal width of a VLE) or `size` (an expression) the group is a region of its own: an error inside
    ends there. Where `loose` holds, the declared length is known to be wrong and the structure decides. A group without
    a name has no node of its own.
    """

    name: str
    fields: tuple["Node", ...]
    doc: str
    when: str = ""
    length: int = 0
    size: str = ""
    loose: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """The same fields several times: as often as the VLE `count` in front says, or as an expression gives."""

    name: str
    fields: tuple["Node", ...]
    count: "Vle | str"
    doc: str
    when: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """One extension of a message. Its identity is ENC, M and ID together (notes 2.1).

    A Z64 has one `Vle`; a ZBuf has any fields, or none if it is opaque; a Unit has none.

    A ZBuf with fields declares a length and has a structure, which may disagree (notes 2.1). Where `loose` holds,
    receivers go by the structure and ignore the declared length; elsewhere the declared length bounds what they read.
    `mismatch` names the finding.
    """

    name: str
    id: int
    enc: int
    mandatory: bool
    doc: str
    spec: str
    fields: tuple["Node", ...] = ()
    loose: str = ""
    render: str = ""
    column: str = ""
    mismatch: str = "extension-length"
    yields_to: str = ""
    """The extension that fills the same column, and that counts if both are present."""
    before: str = ""
    """The extension that must come directly after it."""

    @property
    def key(self) -> int:
        """The seven bits ENC, M, ID of its header."""
        return self.enc << 5 | self.mandatory << 4 | self.id


class Extensions:
    """A chain of extensions; present where `when` holds, by default the message's Z flag.

    `tolerant`: receivers skip even unknown ones with M=1.
    """

    __slots__ = ("known", "tolerant", "when")

    def __init__(self, *known: Extension, when: str = "Z", tolerant: bool = False) -> None:
        self.known = known
        self.when = when
        self.tolerant = tolerant


class Choice:
    """One of several messages, told apart by the id in the header byte.

    `many`: "" for one message; "while" for as many as follow whose id is one of these; "all" for messages up to the end
    of the region. `refused` are those that the Rust implementation doesn't read here.
    """

    __slots__ = ("doc", "many", "messages", "name", "refused", "when")

    def __init__(
        self,
        name: str,
        *messages: "Message",
        doc: str,
        many: str = "",
        when: str = "",
        refused: tuple["Message", ...] = (),
    ) -> None:
        self.name = name
        self.messages = messages
        self.doc = doc
        self.many = many
        self.when = when
        self.refused = refused


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message or sub-message: a header byte (id in bits 4..0, three flags above it) and its fields.

    `labels` names its variants by a flag: {"A": ("INIT_SYN", "INIT_ACK")} is the name for A=0 and for A=1.
    """

    name: str
    id: int
    layer: str
    """scouting, transport, network, data or declaration."""
    doc: str
    spec: str
    flags: tuple[Bit, ...]
    fields: tuple["Node", ...]
    labels: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    path: str = ""
    """Its part in field names, if not its name in lower case."""

    def flag(self, name: str) -> Bit:
        """One of the flags of its header."""
        return next(bit for bit in self.flags if bit.name == name)


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """What a link carries in one piece, such as a batch or a scouting datagram. It has no header byte of its own.

    `inputs` are values that the framing sets (`flow.framing.Framing`), for use in conditions and sizes.
    """

    name: str
    fields: tuple["Node", ...]
    doc: str
    spec: str
    inputs: tuple[str, ...] = ()


Node = Bits | Vle | Fixed | Text | Blob | Rest | Group | Repeat | Extensions | Choice
