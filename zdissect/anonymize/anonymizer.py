"""From a capture to one with the same structure, of which nothing can be told back: two passes over frames in a store.

The frames that come out begin as zeros. What the first pass dissects is written into them with other values, and the
second pass writes their headers. So what isn't understood is overwritten, whatever it is.
"""

from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.field_values import PERIOD, Values
from zdissect.anonymize.fills import ONES, ZEROS
from zdissect.anonymize.fragment_pieces import Pieces, Side
from zdissect.anonymize.ipfragment_places import FragmentPlaces
from zdissect.anonymize.layers import PAYLOAD, layers
from zdissect.anonymize.packet_headers import PacketHeaders
from zdissect.anonymize.places import Compressed, FramePlace, InFrames, Store, UnitTarget
from zdissect.anonymize.recorder import Recorder
from zdissect.anonymize.report import Account
from zdissect.anonymize.secret import Secret
from zdissect.anonymize.streams_left import StreamsLeft
from zdissect.anonymize.texts import Texts
from zdissect.dissection import Dissection, Item, Skip
from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Buffer, Tape
from zdissect.flow.batch_decoding import decode
from zdissect.flow.framing import DATAGRAM
from zdissect.grammar.batch import BATCH, NETWORK_MESSAGE, SCOUTING_DATAGRAM
from zdissect.grammar.field import UNDECODED
from zdissect.pipeline import Options
from zdissect.records import Datagram, Frame

_FILLS = tuple((fill, kept) for kept in range(5) for fill in (ZEROS, ONES))
"""How bytes that aren't understood are overwritten, and how many of them stay, such as an id, or a length that goes too
far: the first way in which the unit reads as before."""
_COMPRESSED = "zenoh.batch.compressed_data"


class Anonymizer:
    """Anonymizes the frames of a capture.

    Args:
        store: Where the frames are (numbered from 1, without names), and what takes their place is written.
        ros2: Types of ROS 2 in keys stay.
    """

    def __init__(self, store: Store, options: Options, secret: Secret, ros2: bool = False) -> None:
        self.store = store
        self.options = options
        self.addresses = Addresses(secret)
        self.texts = Texts(secret, self.addresses.zid_text, ros2)
        self.values = Values(secret, self.texts, self.addresses)
        self.recorder = Recorder(options)
        self.ip_fragments = FragmentPlaces()
        self.pieces = Pieces()
        self.left = StreamsLeft(store, self.recorder.streams, self.texts)
        self.account = Account()
        self.outer: tuple[UnitTarget, int, int] | None = None
        """Of the batch before: where its compressed block is."""

    def feed(self, frame: Frame) -> None:
        """First pass: takes a frame, which is in the store already."""
        self.account.frames += 1
        items = self.recorder.feed(frame)
        packet = self.recorder.decoder.packet
        found = layers(frame, self.options.udp_ports)
        if packet is None or packet.offset < 0:
            self.ip_fragments.note(frame, found, packet is not None)
        elif not any(layer.kind == PAYLOAD and layer.body == packet.offset for layer in found):
            self.account.unwritten += 1
        for item in items:
            self.take(item)

    def close(self) -> None:
        """Ends the first pass."""
        pipeline = self.recorder.pipeline
        for item in pipeline.close():
            self.take(item)
        self.left.close(pipeline.verdicts)
        self.recorder.streams.copy(self.store)
        for frame, offset, first in self.recorder.copies:
            self.copy(frame, offset, first)
        self.account.skipped = self.left.overwritten
        self.account.headers = pipeline.decoder.unopened.total()
        taken = pipeline.opaque.total() + sum(one.opaque for one in pipeline.datagrams.all())
        self.account.foreign = taken

    def take(self, item: Item) -> None:
        """Takes what the dissection of a frame gives."""
        if isinstance(item, Skip):
            self.left.skip(item)
        elif isinstance(item, Dissection):
            self.unit(item)

    def unit(self, item: Dissection) -> None:
        """Writes a unit with other values."""
        name = item.buffer.name
        self.account.messages += len(item.messages)
        target: UnitTarget | None
        if name == "decompressed" and self.outer is not None:
            target = self.compressed(item, *self.outer)
        else:
            if name == "reassembled":
                target = self.pieces.message(self.side(item), item)
            else:
                target = InFrames(self.store, item.buffer.data, self.places(item), item.flow.link == "ws")
                self.left.message(item)
            if target is None:
                return
            target.write(0, bytes(self.other(item, 1 if name == "reassembled" else PERIOD)))
        for message in item.messages:
            if message.row["message"] == "FRAGMENT":
                self.pieces.add(self.side(item), message, target, item.frame.number)
        block = next((span for span in item.tape.spans if span[0].path == _COMPRESSED), None)
        self.outer = (target, block[2], block[3] - block[2]) if block is not None else None

    def other(self, item: Dissection, period: int) -> bytearray:
        """The bytes of a unit with other values; where it couldn't be decoded, it can't be in the same way."""
        left = sum(stop - start for field, _, start, stop, _ in item.tape.spans if field is UNDECODED)
        out = self.values.unit(item, period)
        if not left:
            return out
        self.account.undecoded += left
        before = _shape(_again(item, item.buffer.data))
        for fill, kept in _FILLS:
            new = self.values.unit(item, period, fill, kept)
            if _shape(_again(item, bytes(new))) == before:
                return new
        return out

    def compressed(self, item: Dissection, outer: UnitTarget, start: int, size: int) -> UnitTarget:
        """Writes the content of a compressed batch, whose payloads must be as easy to compress as they were."""
        target = Compressed(outer, start, size, item.buffer.data, self.failed)
        period = PERIOD
        while period and not target.fits(bytes(self.other(item, period))):
            period //= 2
        if not period:
            target.overwrite()
        return target

    def failed(self) -> None:
        """Counts a compressed batch that had to be overwritten."""
        self.account.blocks += 1

    def side(self, item: Dissection) -> Side:
        """Whose fragments may make up a message: a side of a session."""
        link = self.recorder.pipeline.sessions.links.get(item.flow.id)
        return (link.session, item.direction ^ link.flip) if link is not None else (item.flow.id, item.direction)

    def places(self, item: Dissection) -> list[FramePlace]:
        """Where the bytes of a unit are."""
        buffer = item.buffer
        if len(buffer.origin) == 1 and buffer.origin[0].offset < 0 and item.flow.link == "udp":
            return self.ip_fragments.places(buffer.origin[0].frame - 1, 8)
        return in_frames(buffer)

    def copy(self, frame: int, offset: int, first: Datagram) -> None:
        """Writes what was written for a datagram to a copy of it."""
        size = len(first.payload)
        if first.offset >= 0:
            self.store.write(frame, offset, self.store.new(first.frame.number - 1, first.offset, size))

    def frame(self, frame: Frame, new: bytes) -> Frame:
        """Second pass: a frame with other headers, and what the first pass has written."""
        found = layers(frame, self.options.udp_ports)
        out = bytearray(new)
        for layer in found:
            if layer.kind == PAYLOAD and not any(out[layer.body : layer.stop]):
                out[layer.body : layer.stop] = ONES * len(out[layer.body : layer.stop])
        PacketHeaders(self.addresses, self.whole).write(frame, found, out)
        return frame._replace(data=bytes(out))

    def whole(self, frame: Frame) -> bytes | None:
        """The new bytes of the packet whose first fragment a frame holds."""
        number = self.ip_fragments.first.get(frame.number - 1)
        if number is None:
            return None
        out = bytearray()
        for place in sorted(self.ip_fragments.places(number, 0), key=lambda one: one.start):
            if place.start > len(out):
                return None
            out[place.start :] = self.store.new(place.frame, place.offset, place.size)
        return bytes(out)


def in_frames(buffer: Buffer) -> list[FramePlace]:
    """Where the bytes of a buffer are, by its origins."""
    ends = [origin.start for origin in buffer.origin[1:]] + [len(buffer.data)]
    return [
        FramePlace(origin.start, origin.frame - 1, origin.offset, end - origin.start)
        for origin, end in zip(buffer.origin, ends, strict=True)
        if origin.offset >= 0
    ]


def _again(item: Dissection, data: bytes) -> Tape:
    """How other bytes are read in the place of a unit."""
    cut = bool(item.missing)
    if item.buffer.name == "reassembled":
        return interpret(NETWORK_MESSAGE, data)
    if item.buffer.name == "decompressed":
        return interpret(BATCH, data, **DATAGRAM.inputs)
    return interpret(SCOUTING_DATAGRAM, data, cut=cut) if item.scouting else decode(data, item.framing, cut=cut).tape


def _shape(tape: Tape) -> tuple[list[tuple[str, int, int]], list[str]]:
    """What a tape says but for values."""
    return [(field.path, start, stop) for field, _, start, stop, _ in tape.spans], [code for code, *_ in tape.remarks]
