"""Messages of ROS 2 as a bag: an MCAP file that `ros2 bag play` and Foxglove open."""

import os
from pathlib import Path
from struct import pack
from types import TracebackType
from typing import Any, Literal

from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.storage_mcap import McapWriter

from zdissect.capture.leftovers import Temporary
from zdissect.export.payload_files import AlreadyThere
from zdissect.ros2.content import Contents
from zdissect.ros2.graph import RosGraph
from zdissect.ros2.publications import SentMessage
from zdissect.ros2.qos_words import RosQos
from zdissect.ros2.rmw_keys import NO_HASH, RosKey
from zdissect.ros2.type_finder import definition_text

_INFINITE = QosTime(9223372036, 854775807)
_VERSION: Literal[9] = 9
"""Of the metadata: Jazzy and later write it, all read it."""


class Bag:
    """A bag that messages are written to, as a context; it is there under its name once all of them are.

    Args:
        path: `OUT.mcap`, a file; otherwise a directory with that file and its metadata.
        contents: Knows the definitions of types.
        force: Whether it may replace what is there.

    Raises AlreadyThere if it exists, and OSError if it can't be written.
    """

    def __init__(self, path: str, contents: Contents, force: bool = False) -> None:
        self.path, self.contents, self.force = path, contents, force
        self.graph = RosGraph()
        """Says what publishers offer: set it to that of the view before the first message comes."""
        self.messages = 0
        self.undefined: dict[str, str] = {}
        """Types without a definition, and why there is none."""
        self.domains: set[int] = set()
        self.channels: dict[RosKey, Any] = {}

    def __enter__(self) -> "Bag":
        if os.path.lexists(self.path) and not self.force:
            raise AlreadyThere(f"{self.path} already exists: choose another name, or --force")
        name = Path(os.path.abspath(self.path)).stem
        self.folder = Temporary(self.path).__enter__()
        try:
            self.part = self.folder.path / name
            self.writer = Writer(self.part, version=_VERSION, storage_plugin=StoragePlugin.MCAP)
            self.writer.STORAGE_PLUGINS = {StoragePlugin.MCAP: _TimedStorage}
            self.writer.open()
        except BaseException as problem:
            self.folder.__exit__(None, None, None)
            if isinstance(problem, OSError):
                raise OSError(problem.errno, problem.strerror, self.path) from problem
            raise
        return self

    @property
    def removed(self) -> list[str]:
        """What killed runs had left of this bag, and is gone now."""
        return self.folder.removed

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.writer.close()
                is_file = Path(self.path).suffix == ".mcap"
                self.folder.put(f"{self.part.name}/{self.part.name}.mcap" if is_file else self.part.name)
            else:
                self.writer.abort()
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, self.path) from problem
        finally:
            self.folder.__exit__(kind, value, traceback)

    def write(self, message: SentMessage, payload: bytes) -> None:
        """Writes a message."""
        channel = self.channels.get(message.key)
        if channel is None:
            channel = self.channels[message.key] = self._channel(message.key)
        storage: Any = self.writer.storage
        storage.published = message.attachment.source_ts_ns, message.attachment.seq
        try:
            self.writer.write(channel, max(message.first.ts_ns, 0), payload)
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, self.path) from problem
        self.messages += 1

    def _channel(self, key: RosKey) -> Any:
        """The connection of a topic, with its definition and the QoS of its publishers."""
        self.domains.add(key.domain)
        found = self.contents.types.find(key.type, key.hash)
        text = "" if isinstance(found, str) else definition_text(found)
        if isinstance(found, str):
            self.undefined[key.type] = found
        digest = key.hash if key.hash != NO_HASH or isinstance(found, str) else found.hash
        offered = [one.token.qos for one in self.graph.publishers_of(key) if one.token.qos is not None]
        for known in self.channels.values():
            if (known.topic, known.msgtype) == (key.name, key.type) and known.digest == digest:
                return known
        return self.writer.add_connection(
            key.name, key.type, msgdef=text, rihs01=digest, offered_qos_profiles=[_qos(one) for one in offered]
        )


class _TimedStorage(McapWriter):
    """Writes when a message was published, and its number, next to when it was captured: rosbags has one time."""

    published = (0, 0)
    held = due = False

    def write(self, connection: Any, timestamp: int, data: bytes | memoryview) -> None:
        bio, at = self.chunk.bio, self.chunk.bio.tell()
        self.held, self.due = True, False
        super().write(connection, timestamp, data)
        self.held = False
        ts_ns, seq = self.published
        bio.seek(at + 11)  # behind opcode, length and channel
        bio.write(pack("<IQQ", seq % 2**32, timestamp, max(ts_ns, 0)))
        bio.seek(0, os.SEEK_END)
        if self.due:
            self.close_chunk()

    def close_chunk(self) -> None:
        """Closes a chunk, but none whose last message isn't complete."""
        if self.held:
            self.due = True
        else:
            super().close_chunk()


def _qos(qos: RosQos) -> Qos:
    """A profile in the words of rosbags."""
    return Qos(
        QosHistory[qos.history.upper()], qos.depth, QosReliability[qos.reliability.upper()],
        QosDurability[qos.durability.upper()], _time(qos.deadline_ns), _time(qos.lifespan_ns),
        QosLiveliness[qos.liveliness.upper()], _time(qos.lease_ns), False,
    )  # fmt: skip


def _time(ns: int | None) -> QosTime:
    return _INFINITE if ns is None else QosTime(*divmod(ns, 10**9))
