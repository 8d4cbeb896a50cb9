"""A router with clients and a peer, whose samples the tests follow."""

from tests.conversation import CLIENT, PEER, ROUTER, Conversation, Node
from tests.messages import declare, entity
from tests.packets import MS, CaptureBuilder, Parties
from zdissect.listing import Listing
from zdissect.pipeline import Options, Pipeline

SECOND_CLIENT, THIRD_CLIENT = Node(b"\x06\xff", "client"), Node(b"\x07\xaa", "client")
SETTLED = 500 * MS
"""Long enough for a declaration to count, and for a sample to be passed on."""


class Star:
    """Everybody is connected to one router. Side 0 of each conversation is the node, side 1 the router."""

    def __init__(self):
        self.capture = CaptureBuilder()
        nodes = (CLIENT, SECOND_CLIENT, THIRD_CLIENT, PEER)
        self.one, self.two, self.three, self.peer = (
            Conversation(self.capture, (node, ROUTER), Parties(ports=(40000 + index, 7447))).open()
            for index, node in enumerate(nodes)
        )

    def subscribe(self, conversation, key, ident=1, side=0):
        """Declares a subscriber, and gives it time to count."""
        conversation.frame(side, declare(entity("SUBSCRIBER", ident, key)))
        self.capture.now_ns += SETTLED

    def wait(self):
        """Lets time pass, which the capture shows."""
        self.capture.now_ns += SETTLED
        self.peer.batch(0, {"message": "KEEP_ALIVE"})

    def listed(self, listing: Listing):
        """The rows of a listing, and that itself."""
        pipeline = Pipeline(Options(history=True))
        for frame in self.capture.frames:
            listing.frame(frame)
            for item in pipeline.feed(frame):
                listing.feed(item)
        for item in pipeline.close():
            listing.feed(item)
        return [listing.whole(row) for row in listing.rows(pipeline)]
