"""Interests and the declarations that answer them; the entities that each side has declared (notes 6.1 and 6.3)."""

from dataclasses import dataclass, field

from zdissect.engine.messages import DecodedMessage
from zdissect.grammar.declarations import DISTANCE
from zdissect.grammar.flags import named
from zdissect.grammar.network import INTEREST_OPTIONS

PATIENCE_MS = 10_000
"""Time after which the implementation ends an unanswered interest in existing declarations."""

REMEMBERED = 4096
"""Ended interests and entities that are remembered (up to twice as many), to explain late uses."""

KINDS = {"SUBSCRIBER": "subscriber", "QUERYABLE": "queryable", "TOKEN": "token"}
_K, _S, _Q, _T, _R, _N, _M, _A = (named(INTEREST_OPTIONS.bits, name).mask for name in "KSQTRNMA")
FAR = 255
"""Hops beyond which the distance of a queryable is implausible."""


EntityId = tuple[str, int, str | None]
"""Kind and id of an entity, and its key where ids don't tell entities apart."""


@dataclass(slots=True)
class Interest:
    """An interest of one side."""

    ident: int
    frame: int
    ts_ns: int
    mode: str
    answered: bool = False
    """Whether its D_FINAL has come."""
    ended: bool = False

    @property
    def over(self) -> bool:
        """Whether no more declarations can answer it."""
        return self.ended or (self.answered and self.mode == "Current")


@dataclass(slots=True)
class Entity:
    """A subscriber, queryable or token of one side."""

    key: str | None
    frame: int
    scope: int
    alive: bool = True


@dataclass(slots=True)
class DeclaredState:
    """The interests and entities that one side declared."""

    interests: dict[int, Interest] = field(default_factory=dict)
    entities: dict[EntityId, Entity] = field(default_factory=dict)
    ended: int = 0
    """Interests and entities that have ended since some were last forgotten."""

    def interest(
        self, message: DecodedMessage, frame: int, ts_ns: int, complete: bool, roles: tuple[str | None, ...]
    ) -> Interest | None:
        """Takes an INTEREST of this side; returns it if a D_FINAL must answer it."""
        row = message.row
        ident, mode = row.get("interest_id"), row.get("interest_mode", "")
        if ident is None:
            return None
        if roles == ("router", "router"):
            message.remark("interest-role", "a router sends an interest to a router")
        if mode == "Final":
            known = self.interests.get(ident)
            if known is not None:
                known.ended = known.answered = True
                self.forget()
            elif complete:
                message.remark("interest-final-unknown", f"there is no interest {ident}", "interest.id")
            return None
        self.options(message, mode)
        interest = self.interests[ident] = Interest(ident, frame, ts_ns, mode)
        return interest if "Current" in mode else None

    @staticmethod
    def options(message: DecodedMessage, mode: str) -> None:
        """Notes 9, rule 47: what an interest may ask for."""
        options = message.value("interest.options")
        if options is None:
            return
        at = "interest.options"
        if not options & (_K | _S | _Q | _T):
            message.remark("interest-empty", "no kind is asked for", at)
        if mode == "Current" and (not options & _T or options & (_S | _Q)):
            message.remark("interest-mode", "the Rust implementation answers Current for tokens only", at)
        if options & _A and options & _T:
            message.remark("interest-aggregate", "tokens can't be aggregated", at)
        if not options & _R and options & (_N | _M):
            message.remark("interest-flags", "N or M without R", at)

    def answer(self, message: DecodedMessage, complete: bool) -> Interest | None:
        """Takes a DECLARE that answers an interest of this side; returns the interest."""
        row = message.row
        ident, final = row.get("interest_id"), row.get("body") == "D_FINAL"
        if ident is None:
            if final:
                message.remark("final-without-interest", "D_FINAL answers no interest", "d_final.header")
            return None
        interest = self.interests.get(ident)
        if interest is None:
            # 0 stands for the interest that nobody needs to declare: peers end it once, when a session starts
            if ident == 0 and final:
                self.interests[0] = Interest(0, 0, 0, "", answered=True)
            elif ident and complete:
                message.remark("unknown-interest", f"there is no interest {ident}", "declare.interest_id")
            return None
        if interest.answered and not interest.ended:
            code = "second-interest-final" if final else "declaration-after-final"
            message.remark(code, f"interest {ident} already has its D_FINAL", "declare.interest_id")
        interest.answered = interest.answered or final
        if final and interest.over:
            self.forget()
        return interest

    def overdue(self, interest: Interest) -> str:
        """What is wrong with an interest whose deadline has passed; empty if it was answered, or its id was reused."""
        if interest.answered or self.interests.get(interest.ident) is not interest:
            return ""
        return f"interest {interest.ident} of frame {interest.frame} has no D_FINAL after {PATIENCE_MS // 1000} s"

    def declare(self, message: DecodedMessage, kind: str, frame: int, current: bool, sourced: bool) -> None:
        """Takes a D_SUBSCRIBER, D_QUERYABLE or D_TOKEN of this side.

        Args:
            current: It answers an interest in current declarations only, and so isn't remembered.
            sourced: Declarations have no ids of their own: 0 and the key identify one.
        """
        row = message.row
        ident, key = row.get("entity_id"), row.get("key_expr")
        info = message.value("d_queryable.ext_queryable_info.value")
        if info is not None and DISTANCE.of(info) > FAR:
            message.remark("far-queryable", f"{DISTANCE.of(info)} hops", "d_queryable.ext_queryable_info.value")
        if ident is None or current:
            return
        entity_id = self.entity_id(kind, ident, key, sourced)
        known = self.entities.get(entity_id)
        if known is not None and known.alive and None not in (known.key, key) and known.key != key:
            text = f"{KINDS[kind]} {ident} of frame {known.frame} is {known.key}"
            message.remark("entity-remapped", text)
        self.entities[entity_id] = Entity(key, frame, row.get("key_scope") or 0)

    @staticmethod
    def entity_id(kind: str, ident: int, key: str | None, sourced: bool) -> EntityId:
        """What identifies an entity: kind and id, and the key where declarations have no ids (notes 6.1)."""
        return kind, ident, key if sourced and not ident else None

    def undeclare(self, message: DecodedMessage, kind: str, complete: bool, sourced: bool) -> Entity | None:
        """Takes a U_SUBSCRIBER, U_QUERYABLE or U_TOKEN of this side; returns the entity that it ends."""
        ident, key = message.row.get("entity_id"), message.row.get("key_expr")
        known = self.entities.get(self.entity_id(kind, ident, key, sourced)) if ident is not None else None
        if known is None or not known.alive:
            if complete and ident is not None:
                which = f"{ident} on {key}" if sourced and not ident else f"{ident}"
                message.remark("undeclare-unknown", f"there is no {KINDS[kind]} {which}")
            return known
        known.alive = False
        self.forget()
        return known

    def forget(self) -> None:
        """Counts something that has ended; if there are many, forgets those that ended first."""
        self.ended += 1
        if self.ended < 2 * REMEMBERED:
            return
        for entity_id in [entity_id for entity_id, entity in self.entities.items() if not entity.alive][:-REMEMBERED]:
            del self.entities[entity_id]
        for ident in [ident for ident, interest in self.interests.items() if interest.over][:-REMEMBERED]:
            del self.interests[ident]
        self.ended = REMEMBERED

    def uses(self, scope: int) -> bool:
        """Whether a live entity was declared with this scope."""
        return any(entity.alive and entity.scope == scope for entity in self.entities.values())
