"""Parts of a capture that belong together: a session, what is said about a key, a query with its answers, the fragments
of a message.

What is to be followed is named by people (`subject`); a first pass over the capture finds out what that stands for
(`subject_finder`), and a second one selects its messages (`selection`).
"""

from zdissect.transcript.selection import Selection, SessionPlace
from zdissect.transcript.subject import Subject, parse
from zdissect.transcript.subject_finder import SubjectError, SubjectFinder

__all__ = ["Selection", "SessionPlace", "Subject", "SubjectError", "SubjectFinder", "parse"]
