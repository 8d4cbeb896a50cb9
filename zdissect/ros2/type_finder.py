"""Finds the definition that a type hash names: in those of one's own, and in all releases that rosbags knows."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from zdissect.ros2.common_services import common_definitions
from zdissect.ros2.interface_types import defining, interface_types
from zdissect.ros2.rmw_keys import NO_HASH

_UNHASHED_RELEASE = "HUMBLE"
"""The release whose keys have no hashes (docs/ros2.md)."""
_EVENT_INFO = {
    "service_msgs/msg/ServiceEventInfo": "uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\n"
    "int64 sequence_number\n"
}
"""Part of each service's hash, and since Iron of each release: older ones have no hashes."""


class FoundType(NamedTuple):
    """A type that can be decoded."""

    store: Any
    """The `Typestore` of rosbags that has it."""
    name: str
    source: str
    """Where its definition is from: `Jazzy`, `--msgs`."""
    hash: str
    """Its type hash; computed if the key has none."""


class TypeFinder:
    """Types by name and hash. What was found, or why nothing was, is kept.

    Args:
        own: Definitions of one's own: the text of a file by its type, `pkg/msg/T`.
    """

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        self.own = dict(own or {})
        self.common = common_definitions()
        self.known: dict[tuple[str, str], FoundType | str] = {}
        self.stores: dict[tuple[str, bool], Any] = {}
        self.unread: dict[str, str] = {}
        """Definitions of one's own that can't be read, and why."""

    def find(self, name: str, digest: str) -> FoundType | str:
        """The type of this name and hash, or why there is none."""
        found = self.known.get((name, digest))
        if found is None:
            found = self.known[name, digest] = self._search(name, digest)
        return found

    def releases_of(self, name: str, digest: str) -> list[str]:
        """The releases whose definition of a type has this hash, in order."""
        return [release for release in _releases() if self._hash_in(release, name) == digest]

    def _hash_in(self, release: str, name: str) -> str | None:
        made = self._made(release, name, own=False)
        return _hash(made, name) if made is not None else None

    def _search(self, name: str, digest: str) -> FoundType | str:
        """Looks into definitions of one's own first, then into the releases, the newest first."""
        any_known = False
        for own in (True, False) if defining(name) in self.own else (False,):
            for release in [_UNHASHED_RELEASE] if digest == NO_HASH else _releases()[::-1]:
                store = self._made(release, name, own)
                if store is None:
                    continue
                any_known = True
                made = _hash(store, name)
                if made == digest or (digest == NO_HASH and made):
                    return FoundType(store, name, "--msgs" if own else release.capitalize(), made)
        if why := self.unread.get(defining(name)):
            return f"the definition of {defining(name)} can't be read: {why}"
        if any_known:
            return f"no known definition of {name} has its type hash: --msgs DIR with the definition that was used"
        return f"no definition of {name}: --msgs DIR with it"

    def _made(self, release: str, name: str, own: bool) -> Any:
        """The types of a release, with this one; None if it isn't known."""
        store = self._store(release, own)
        if name in store.fielddefs:
            return store
        text = (self.own if own else self.common).get(defining(name))
        if text is None:
            return None
        try:
            store.register(interface_types(defining(name), text))
        except Exception as problem:  # rosbags has no common base for what it raises on what it can't read
            if own:
                self.unread[defining(name)] = " ".join(str(problem).split())[:200]
            return None
        return store if name in store.fielddefs else None

    def _store(self, release: str, own: bool) -> Any:
        """The types of a release; with all definitions of one's own in place of its."""
        store = self.stores.get((release, own))
        if store is None:
            from rosbags.typesys import Stores, get_typestore

            store = get_typestore(Stores[f"ROS2_{release}"])
            missing = {name: text for name, text in _EVENT_INFO.items() if name not in store.fielddefs}
            for name, text in {**missing, **(self.own if own else {})}.items():
                self._put(store, name, text)
            self.stores[release, own] = store
        return store

    def _put(self, store: Any, name: str, text: str) -> None:
        """Puts a definition in place of what has its names."""
        try:
            types = interface_types(name, text)
            for made in types:
                store.fielddefs.pop(made, None)
                store.types.pop(made, None)
            store.register(types)
        except Exception as problem:  # as in `_made`
            self.unread[name] = " ".join(str(problem).split())[:200]


def _releases() -> list[str]:
    """Releases of ROS 2 that rosbags knows, the oldest first."""
    from rosbags.typesys import Stores

    return [store.name.removeprefix("ROS2_") for store in Stores if store.name.startswith("ROS2_")]


def _hash(store: Any, name: str) -> str:
    """The type hash of a type; empty if something that it needs isn't known.

    `char` is what `uint8` is in the descriptions that ROS hashes, other than in rosbags' table.
    """
    from rosbags.typesys.store import Typestore

    shadow = Typestore()
    try:
        _copy(store, shadow, name)
        return str(shadow.hash_rihs01(name))
    except (KeyError, RecursionError):
        return ""


def _copy(store: Any, shadow: Any, name: str, rename: bool = False) -> None:
    """Copies a type and all that it is made of, with `uint8` for `char`; as messages, if they are to be renamed."""
    made = name.replace("/action/", "/msg/") if rename else name
    if made in shadow.fielddefs:
        return
    constants, fields = store.fielddefs[name]
    shadow.fielddefs[made] = constants, [(field, _plain(desc, rename)) for field, desc in fields]
    for _, desc in fields:
        inner = desc[1] if desc[0] == 2 else desc[1][0][1] if desc[0] in (3, 4) and desc[1][0][0] == 2 else None
        if isinstance(inner, str):
            _copy(store, shadow, inner, rename)


def _plain(desc: Any, rename: bool) -> Any:
    """A description of a field, with `uint8` for `char`; parts of actions as messages, if they are to be renamed."""
    kind, rest = desc
    if rest == ("char", 0):
        return kind, ("uint8", 0)
    if isinstance(rest, str) and rename:
        return kind, rest.replace("/action/", "/msg/")
    if isinstance(rest, tuple) and isinstance(rest[0], tuple):
        return kind, (_plain(rest[0], rename), rest[1])
    return desc


def can_decode() -> bool:
    """Whether rosbags is installed."""
    from importlib.util import find_spec

    return find_spec("rosbags") is not None


def definition_text(found: FoundType) -> str:
    """The definition of a type, with those of all that it is made of behind it, as bags have it."""
    from rosbags.typesys.store import Typestore

    # rosbags writes texts for the names of messages only, and parts of actions are messages as well
    shadow = Typestore()
    _copy(found.store, shadow, found.name, rename=True)
    text, _ = shadow.generate_msgdef(found.name.replace("/action/", "/msg/"), ros_version=2)
    for name in found.store.fielddefs:
        if "/action/" in name and name.replace("/action/", "/msg/") in shadow.fielddefs:
            text = re.sub(rf"\b{name.replace('/action/', '/')}\b", name, text)
    return str(text)
