"""Nested nodes as objects whose members are named after fields: what `-T json` prints.

Which members are arrays is a matter of the grammar, never of how many there are: `messages` of a batch and of a FRAME,
`extensions`, `undecoded`, and what the grammar repeats. docs/json.md describes the form, json_schema.json defines it.
"""

from zdissect.grammar.field import Field
from zdissect.grammar.registry import fields
from zdissect.grammar.transport import FRAME
from zdissect.output.nested import Node

_KINDS = {"unit": "unit", "message": "message", "extension": "extension"}
_LISTS = {"extension": "extensions", "undecoded": "undecoded"}


def with_named_members(document: Node) -> Node:
    """A document with `unit` in the place of its `nodes`, and `_range` in that of `start` and `bits`."""
    out: Node = {}
    for name, value in document.items():
        if name == "nodes":
            out["unit"] = _together(value) if value else None
        elif name == "findings":
            out[name] = [_ranged(one) for one in value]
        else:
            out[name] = value
    return out


def _together(nodes: list[Node]) -> Node:
    """A unit, or a message alone, and what comes after it."""
    out = named(nodes[0])
    for rest in nodes[1:]:
        _add(out, _field(nodes[0]), rest)
    return out


def _ranged(node: Node) -> Node:
    """The same with `_range`: its first bit and the number of its bits."""
    out = {name: value for name, value in node.items() if name not in ("start", "bits")}
    if "start" in node:
        out["_range"] = [node["start"], node["bits"]]
    return out


def named(node: Node) -> Node:
    """A node as an object; its children are its members."""
    field = _field(node)
    out: Node = {}
    if field.kind in _KINDS:
        out[_KINDS[field.kind]] = node["value"] if "value" in node else field.name.removeprefix("ext_")
    elif field.leaf or field.kind == "bit":  # the number of an item is its place in the array
        out |= {name: node[name] for name in ("value", "meaning") if name in node}
    out |= _ranged({name: node[name] for name in ("start", "bits") if name in node})
    if "derived" in node:
        out["derived"] = node["derived"]
    for child in node.get("children", ()):
        _add(out, field, child)
    return out


def _field(node: Node) -> Field:
    """The field of a node; what was pasted alone stands in a unit that no link carries."""
    name = node["name"]
    return fields().get(name) or Field(name, "unit", "", "")


def _add(out: Node, parent: Field, child: Node) -> None:
    """Makes a child a member of an object, or an element of one."""
    field = _field(child)
    if field.kind == "bit":
        out.setdefault("bits", {})[field.name] = named(child)
    elif field.kind == "message":
        if parent.kind == "unit" or parent.node is FRAME:
            out.setdefault("messages", []).append(named(child))
        else:
            out["body"] = named(child)
    elif field.kind in _LISTS:
        out.setdefault(_LISTS[field.kind], []).append(named(child))
    elif field.kind == "repeat":
        out[field.name] = [named(one) for one in child.get("children", ())]
    else:
        out[field.name] = named(child)
