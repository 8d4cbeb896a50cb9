"""Fields: the named places of the grammar, and those that any message may have."""

from zdissect.grammar.types import ENC_NAMES, Bit, Blob, Enum, Fixed, Rest, Text, Vle


class Field:
    """A named place in the grammar. Compared by identity: there is one per place."""

    __slots__ = (
        "any_bytes", "bits", "check", "column", "doc", "enum", "keeps", "kind", "leaf", "name", "node", "path",
        "render", "scale", "spec", "width",
    )  # fmt: skip

    def __init__(self, path: str, kind: str, doc: str, spec: str, node: object = None) -> None:
        self.path = path
        """Full name: `zenoh.push.scope`."""
        self.name = path.rsplit(".", 1)[-1]
        self.kind = kind
        """unit, message, header, bits, vle, uint, raw, text, blob, rest, group, repeat, item, extension, bit,
        derived or undecoded."""
        self.doc = doc
        self.spec = spec
        self.node = node
        self.leaf = kind in LEAVES
        """Whether its spans own bytes."""
        self.bits: tuple[Field, ...] = ()
        """Its bit fields, the highest first."""
        self.enum: Enum | None = getattr(node, "enum", None)
        self.render: str = getattr(node, "render", "")
        self.column: str = getattr(node, "column", "")
        self.check: str = getattr(node, "check", "")
        self.scale: int = getattr(node, "scale", 1)
        self.keeps: int = getattr(node, "keeps", 0)
        self.width: int = getattr(node, "width", 0)
        self.any_bytes: bool = getattr(node, "any_bytes", False)

    @property
    def type(self) -> str:
        """Type of its values, for people: bool, uint8 to uint64, string, bytes, zid, timestamp, or none; for a derived
        field, the type of its column."""
        node = self.node
        if self.kind == "derived":
            return str(getattr(node, "type", "none"))
        if self.render in ("zid", "ntp64"):
            return {"zid": "zid", "ntp64": "timestamp"}[self.render]
        if isinstance(node, Bit):
            return "bool" if node.width == 1 else f"uint{next(size for size in (8, 16, 32, 64) if node.width <= size)}"
        if isinstance(node, Vle):
            return f"uint{node.width}"
        if isinstance(node, Fixed):
            return "bytes" if node.raw else f"uint{8 * node.size}" if isinstance(node.size, int) else "uint32"
        if isinstance(node, Text) or (isinstance(node, Rest) and node.text):
            return "string"
        return {"header": "uint8", "bits": "uint8"}.get(self.kind, "bytes" if self.leaf else "none")

    def __repr__(self) -> str:
        return f"<Field {self.path}>"


LEAVES = frozenset({"header", "bits", "vle", "uint", "raw", "text", "blob", "rest", "undecoded"})

UNDECODED = Field("zenoh.undecoded", "undecoded", "Bytes that no field owns, after an error.", "zdissect")

EXT_HEADER = Field("zenoh.ext.header", "header", "Header of an extension.", "notes 2.1")
EXT_LENGTH = Field("zenoh.ext.length", "vle", "Length of what follows, bytes.", "notes 2.1", Vle("length", 32, ""))
EXT_VALUE = Field("zenoh.ext.value", "blob", "Body of an unknown ZBuf.", "notes 2.1", Blob("value", 32, ""))
EXT_NUMBER = Field("zenoh.ext.number", "vle", "Body of an unknown Z64.", "notes 2.1", Vle("number", 64, ""))
EXT_UNKNOWN = Field("zenoh.ext", "extension", "An extension that isn't known for its message.", "notes 2.1")
EXT_BITS = (
    Bit("Z", 7, "Whether another extension follows.", says=("last extension", "more extensions follow")),
    Bit("ENC", 5, "Encoding of the body.", width=2, enum=Enum("ENC", dict(enumerate(ENC_NAMES)))),
    Bit("M", 4, "Whether a receiver must understand it.", says=("not mandatory", "mandatory")),
    Bit("ID", 0, "Id, in the scope of the message.", width=4),
)
EXT_HEADER.bits = tuple(Field(f"zenoh.ext.{bit.name.lower()}", "bit", bit.doc, "notes 2.1", bit) for bit in EXT_BITS)
