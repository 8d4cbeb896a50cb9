"""The exit codes of all commands. Imports nothing: Ctrl-C has its code before anything else is loaded."""

DONE, UNREADABLE, USAGE, FINDINGS = 0, 1, 2, 3
"""Done; some input unreadable or cut short; wrong usage; findings at or above --fail-on (`outcome.exit_code`)."""

SIGNALLED = 128
"""What is added to the number of a signal that has ended the program."""
INTERRUPTED = SIGNALLED + 2
"""Ctrl-C (SIGINT): `main._at_once` and `main._interrupted` end with it."""
