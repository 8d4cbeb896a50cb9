"""Compares zdissect with other tools, with an earlier zdissect, and with itself on more messages and more cores.

`python -m tests.bench.compare --help` says how; `docs/performance.md` is what it writes.
"""
