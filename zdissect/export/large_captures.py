"""Captures larger than the share of a process: each is looked at first, then decoded in groups of sessions.

What a group gave counts when all groups of its capture have ended, and it has turned out that they know nothing of each
other. If they do, the capture is decoded once more, as a whole.
"""

from collections.abc import Callable, Iterator

from zdissect.export.inputs import Work
from zdissect.export.split import Split
from zdissect.export.summary import unsound
from zdissect.export.work import Done
from zdissect.export.workers import CapturesTask, GroupTask, ScanTask


class LargeCaptures:
    """What is known of such captures."""

    def __init__(self) -> None:
        self.looked: list[tuple[Work, str]] = []
        """Captures that were looked at, and their groups as JSON; that is empty for one that can't be split."""
        self.held: dict[Work, list[tuple[GroupTask, Done]]] = {}
        """What the groups of each capture gave so far."""

    def take(self, task: ScanTask | GroupTask, done: Done) -> None:
        """Takes a look at a capture, or what became of a group."""
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
        """(capture, what its groups gave, whether that is good) for each capture that was decoded in groups.

        Args:
            lost: Captures of which a group is missing, as its process died.
        """
        while self.held:
            work, held = self.held.popitem()
            groups = [done.group for _, done in held if done.group is not None]
            yield work, held, work not in lost and not unsound(groups)
