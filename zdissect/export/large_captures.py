"""Captures larger than the share of a process: each is looked at first, then decoded in groups of sessions.

The results of a group count once all groups of its capture have ended and turned out to be independent. If they aren't,
the capture is decoded again, as a whole.
"""

from collections.abc import Callable, Iterator

from zdissect.export.inputs import Work
from zdissect.export.summary import unsound
from zdissect.export.work import Done
from zdissect.export.workers import CapturesTask, GroupTask, ScanTask
from zdissect.parallel.split import Split


class LargeCaptures:
    """The state of such captures."""

    def __init__(self) -> None:
        self.looked: list[tuple[Work, str]] = []
        """Captures that were looked at, and their groups as JSON; empty for a capture that can't be split."""
        self.held: dict[Work, list[tuple[GroupTask, Done]]] = {}
        """The results of the groups of each capture so far."""

    def take(self, task: ScanTask | GroupTask, done: Done) -> None:
        """Takes the result of a first look, or of a group."""
        work = task.works[0]
        if isinstance(task, ScanTask):
            self.looked.append((work, done.split))
        else:
            self.held.setdefault(work, []).append((task, done))

    @property
    def messages(self) -> int:
        """Messages that were found in groups that don't count yet."""
        return sum(done.group.rows["messages"] for held in self.held.values() for _, done in held if done.group)

    def tasks(self, directory: Callable[[], str]) -> Iterator[CapturesTask | GroupTask]:
        """The tasks of the captures that were looked at, each with a directory of its own."""
        for work, text in self.looked:
            if not text:
                yield CapturesTask((work,), directory())
                continue
            for number, size in enumerate(Split.load(text).sizes):
                yield GroupTask((work,), directory(), text, number, size)

    def ended(self, lost: list[Work]) -> Iterator[tuple[Work, list[tuple[GroupTask, Done]], bool]]:
        """(capture, results of its groups, whether they are valid) for each capture that was decoded in groups.

        Args:
            lost: Captures of which a group is missing, as its process died.
        """
        while self.held:
            work, held = self.held.popitem()
            groups = [done.group for _, done in held if done.group is not None]
            yield work, held, work not in lost and not unsound(groups)
