"""Usual messages: PUSHes and FRAMEs like one that was checked before, on the same link, without any finding.

What the session adds to a message, and what it finds wrong, depends on its template and on what the session knows;
only the sequence number and the timestamp are left for each message. As long as the session has learned nothing new
(`Session.epoch`), a message takes over what was found out about the first one of its kind; only its time is left to the
rule for that. A message that isn't usual, by its number or otherwise, is left to all rules.
"""

from typing import NamedTuple

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.templates import SN, STAMP, Template
from zdissect.grammar.short_cache import LONGEST
from zdissect.records import Frame
from zdissect.session.message_checks import sample_of
from zdissect.session.model import Link
from zdissect.session.sequence import NONE, Space

USUAL = frozenset({"FRAME", "KEEP_ALIVE", "PUSH"})
"""Messages that may be usual. The others that come with templates are about requests: the rules need each of them."""
MOST = 4096
"""Templates that a direction of a link remembers."""


class Learned(NamedTuple):
    """What is known of the messages with one template."""

    template: Template
    """The template with the columns that the session adds."""
    space: Space | None
    """The space of sequence numbers, of a FRAME."""
    sample: tuple[str, str] | None
    """Key and clock, of a PUSH with a timestamp whose key is known."""


class UsualMessages:
    """What one direction of a link has learned."""

    def __init__(self, link: Link, direction: int) -> None:
        self.link = link
        self.direction = direction
        self.session = link.session
        self.epoch = -1
        self.known: dict[Template, Learned] = {}

    def refresh(self) -> None:
        """Forgets what may not hold any more."""
        session = self.link.session
        if session is not self.session or session.epoch != self.epoch or len(self.known) > MOST:
            self.session, self.epoch = session, session.epoch
            self.known.clear()

    def take(self, message: DecodedMessage, frame: Frame) -> bool:
        """Takes a message of a frame if it is usual; returns whether it was."""
        learned = self.known.get(message.template)
        if learned is None:
            return False
        template, space, _ = learned
        if space is not None:
            sn = message.cell[SN]
            if not self.expects(space, sn):
                return False
            self.session.channels[space].take(sn, NONE)
        message.template = template
        if message.cell[STAMP] is not None:
            self.session.timestamps.feed(message, frame)
        return True

    def expects(self, space: Space, sn: int) -> bool:
        """Whether the number of a FRAME is the next one, and no fragments wait."""
        session = self.session
        channel = session.channels.get(space)
        if channel is None or channel.expected != sn or channel.gaps != self.link.gaps[self.direction]:
            return False
        chain = session.chains.get(space)
        return not (channel.astray or (chain is not None and (chain.open or chain.broken)))

    def learn(self, template: Template, row: Row) -> None:
        """Remembers the row of a message with this template, in which no rule but that of its time found anything."""
        if "node_id" in row or row["message"] not in USUAL:  # the name of a node depends on link state
            return
        if len(row.get("key_expr") or "") > LONGEST:  # how much these take is counted, batch by batch
            return
        space = self.link.space(row, self.direction) if row["message"] == "FRAME" else None
        self.known[template] = Learned(Template(row), space, sample_of(row))
