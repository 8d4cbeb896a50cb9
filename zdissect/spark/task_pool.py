"""Spark in place of the processes of `zdissect batch`: tasks of a conversion as tasks of Spark."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, cast

from zdissect.export.conversion_settings import Settings
from zdissect.export.inputs import Work
from zdissect.export.parquet import WriteError
from zdissect.export.work import Done, lost
from zdissect.export.workers import GroupTask, Outcome, Progress, Task
from zdissect.growing.capture_step import CaptureStep, StepDone
from zdissect.spark import attempts, failures, shuffled_groups
from zdissect.spark.attempts import CONTROL, SparkTask, StepTask, Terms, in_attempt

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

REREAD = 8
"""Most groups of a capture of which each reads the whole capture; with more, its frames are brought to them."""
_LOCAL = re.compile(r"local(?:\[[^,\]]+(?:,\s*(?P<attempts>\d+)\s*)?\])?")
_DIED = "the process that converted it died, perhaps out of memory; what follows is a new capture"
_USUAL_ATTEMPTS = 4
_MOST_ATTEMPTS = 2
"""Attempts of which workers may die before a task is given up; Spark itself would make more on a cluster."""


class _Attempted(NamedTuple):
    """A task, as its attempt left it."""

    task: SparkTask
    done: Done | StepDone | None
    """None if it was given up, because workers died of it."""
    problem: str | None = None
    """Why its files can't be written."""


class SparkPool:
    """The tasks of a session. A task whose workers always die is given up, and leaves all others as they are."""

    isolated = True

    def __init__(self, spark: "SparkSession", settings: Settings, tasks: int, ours: bool) -> None:
        self.spark = spark
        self.tasks = tasks
        self.terms = Terms(settings, min(allowed(spark) - 1, _MOST_ATTEMPTS), ours)

    def run(self, tasks: list[Task], progress: Progress) -> Iterator[Outcome]:
        """Does tasks. Raises WriteError if files can't be written, in a second job either: perhaps elsewhere."""
        unwritten = []
        for task, done, problem in self.first(tasks):
            if problem is None:
                yield cast("Outcome", (task, done, True))
            else:
                unwritten.append(task)
        yield from (cast("Outcome", (task, done, True)) for task, done in self.again(unwritten))

    def steps(self, steps: list[tuple[CaptureStep, str]]) -> Iterator[tuple[StepDone, str]]:
        """Takes steps of captures that grow, as `growing.follower.Steps`. Raises WriteError."""
        tasks = [StepTask(number, step, directory) for number, (step, directory) in enumerate(steps)]
        first = self.ranged(tasks)
        ended = [(task, done) for task, done, problem in first if problem is None]
        ended += self.again([task for task, _, problem in first if problem is not None])
        by_number = {task.number: (task, done) for task, done in ended if isinstance(task, StepTask)}
        for number, (step, directory) in enumerate(steps):
            task, done = by_number[number]
            if isinstance(done, StepDone):
                yield done, task.directory
            else:
                yield StepDone(lost([step.work], directory, _DIED), died=True), directory

    def again(self, tasks: Sequence[SparkTask]) -> Iterator[tuple[SparkTask, Done | StepDone | None]]:
        """Does tasks whose files couldn't be written once more, perhaps elsewhere. Raises WriteError."""
        for task, done, problem in self.ranged(tasks):
            if problem is not None:
                raise WriteError(problem)
            yield task, done

    def first(self, tasks: list[Task]) -> Iterator[_Attempted]:
        """Attempts tasks: groups of captures that have many by a job for each capture, all others by one."""
        many: dict[Work, list[GroupTask]] = {}
        for task in tasks:
            if isinstance(task, GroupTask):
                many.setdefault(task.works[0], []).append(task)
        many = {work: groups for work, groups in many.items() if len(groups) > REREAD}
        yield from self.ranged([task for task in tasks if not (isinstance(task, GroupTask) and task.works[0] in many)])
        for groups in many.values():
            yield from self.shuffled(groups)

    def ranged(self, tasks: Sequence[SparkTask]) -> list[_Attempted]:
        """Attempts tasks in one job, or in one for each if a worker died and Spark gave that up."""
        if not tasks:
            return []
        try:
            return self.job(tasks)
        except Exception as problem:
            if not failures.worker_died(problem):
                raise
        if len(tasks) == 1:
            return [_Attempted(tasks[0], None)]
        with ThreadPoolExecutor(self.tasks) as threads:
            return [one for ended in threads.map(lambda task: self.ranged([task]), tasks) for one in ended]

    def job(self, tasks: Sequence[SparkTask]) -> list[_Attempted]:
        """Attempts tasks in one job, without a shuffle. Raises what Spark does."""
        numbers = self.spark.range(0, len(tasks), 1, len(tasks))
        return _one_each(tasks, numbers.mapInArrow(attempts.of_tasks(tasks, self.terms), CONTROL).collect())

    def shuffled(self, groups: list[GroupTask]) -> list[_Attempted]:
        """Attempts the groups of one capture, whose frames are brought to them; all are given up if that fails."""
        try:
            rows = shuffled_groups.rows(self.spark, groups, self.terms, self.tasks)
        except Exception as problem:
            if failures.connection_lost(problem) or not failures.of_spark(problem):
                raise
            return [_Attempted(task, None) for task in groups]
        return _one_each([*groups], rows)


def _one_each(tasks: Sequence[SparkTask], rows: "list[Row]") -> list[_Attempted]:
    """The attempts that count: Spark gives one control row for each task. Raises WriteError if it doesn't."""
    if sorted(row.task for row in rows) != [*range(len(tasks))]:
        raise WriteError(f"Spark returned {len(rows)} results of {len(tasks)} tasks, no tables were written")
    out = []
    for row in rows:
        task = tasks[row.task]
        load: Callable[[str], Done | StepDone] = StepDone.load if isinstance(task, StepTask) else Done.load
        done = None if row.result is None else load(row.result)
        out.append(_Attempted(in_attempt(task, row.attempt), done, row.problem))
    return out


def allowed(spark: "SparkSession") -> int:
    """How many attempts Spark makes at a task before it gives up the job."""
    local = _LOCAL.fullmatch(spark.conf.get("spark.master", None) or "")
    if local:
        return int(local["attempts"] or 1)
    return int(spark.conf.get("spark.task.maxFailures", None) or _USUAL_ATTEMPTS)
