"""By what is judged: a profile, whose implementation, and from which severity on a verdict is `failed`."""

from dataclasses import dataclass

from zdissect.grammar.profiles import RECEIVER, SENDER, SPEC, Profile
from zdissect.grammar.rule import ERROR, SEVERITIES

DUTIES = (SENDER, RECEIVER)


@dataclass(frozen=True, slots=True)
class VerdictTerms:
    """The terms of a verdict."""

    profile: Profile = SPEC
    judged: str = ""
    """`sender`, `receiver` (see `grammar.profiles.duty`), or the first digits of a ZenohID; empty: everybody."""
    fail_on: str = ERROR
    """The least severity with which a violation fails."""

    @property
    def zid(self) -> str:
        """The first digits of the ZenohID that is judged, as logs spell it; empty unless that is asked for."""
        return "" if self.judged in DUTIES else self.judged.lower()

    def judges(self, duty: str, zid: str | None) -> bool:
        """Whether what somebody did is judged.

        Args:
            duty: As what they did it: `sender` or `receiver`.
            zid: Their ZenohID; None if it isn't known.
        """
        if self.judged in DUTIES:
            return duty == self.judged
        return not self.zid or (zid or "").startswith(self.zid)

    def fails(self, severity: str) -> bool:
        """Whether a violation of this severity fails."""
        return SEVERITIES.index(severity) >= SEVERITIES.index(self.fail_on)
