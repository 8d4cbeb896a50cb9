"""Parts of a capture that belong together: a session, what is said about a key, a query with its answers, the fragments
of a message.

What is to be followed is named by people (`target`); a first pass over the capture finds out what that stands for
(`survey`), and a second one selects its messages (`selection`).
"""

from zdissect.transcript.selection import Part, Selection
from zdissect.transcript.survey import Survey, TargetError
from zdissect.transcript.target import Target, parse

__all__ = ["Part", "Selection", "Survey", "Target", "TargetError", "parse"]
