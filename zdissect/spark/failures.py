"""The errors of Spark and Java: pages of text, in which one line matters."""

import re

_SIGNS = {
    "No module named 'zdissect'": "workers have no zdissect: install it on all machines, or ship it in a zip, with "
    "--conf spark.submit.pyFiles=zdissect.zip; zdissect.spark.pack('zdissect.zip') makes it",
    "No space left on device": "the disk is full; make room, or choose another place with -o or for spark.local.dir",
    "OutOfMemoryError": "Java has too little memory; give it more: --conf spark.driver.memory=4g here, "
    "spark.executor.memory on a cluster",
    "Python worker exited unexpectedly": "a Python process that converted captures died at every attempt, perhaps "
    "for lack of memory; use fewer at a time: --master 'local[1]' here, spark.executor.cores=1 on a cluster",
    "[PACKAGE_NOT_INSTALLED]": "Spark Connect needs more packages: pip install 'pyspark[connect]'",
    "Insufficient driver memory": "Java has too little memory; give it more: --conf spark.driver.memory=4g",
    "BlockManagerMaster.driverEndpoint()": "Spark stopped halfway, perhaps because Java had too little memory; give "
    "it more: --conf spark.driver.memory=4g",
}
"""Reasons by the words that reveal them."""

_DEATHS = ("Python worker exited unexpectedly", "ExecutorLostFailure")
_DIED = "Java has died, perhaps for lack of memory; --conf spark.driver.memory=4g gives it more"
_CAUSE = re.compile(
    r"(?:Caused by: |: |Exception in thread \"main\" )*(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?:: (?P<message>.+))?"
)
_LOGGED = re.compile(r"\d\d/\d\d/\d\d [\d:]+ [A-Z]+ \w+: ")
_LONGEST = 300


def connection_lost(problem: BaseException) -> bool:
    """Whether Java has died."""
    return isinstance(problem, ConnectionError) or type(problem).__name__ == "Py4JNetworkError"


def worker_died(problem: BaseException) -> bool:
    """Whether a job was given up because a worker died in it, or its executor did."""
    return of_spark(problem) and any(sign in str(problem) for sign in _DEATHS)


def of_spark(problem: BaseException) -> bool:
    """Whether an exception came from Spark, or from the bridge between Python and Java."""
    return connection_lost(problem) or type(problem).__module__.split(".")[0] in ("pyspark", "py4j", "grpc")


def reason(problem: BaseException) -> str:
    """Why Spark failed, in one line."""
    if connection_lost(problem):
        return _DIED
    text = str(problem)
    return next((words for sign, words in _SIGNS.items() if sign in text), None) or cause(text) or "it doesn't say why"


def cause(text: str) -> str:
    """The innermost cause in the text of an exception or in what Java printed; else its last line."""
    lines = [line for raw in text.splitlines() if (line := raw.strip()) and not line.startswith(_MEANINGLESS)]
    causes = [match for line in lines if (match := _CAUSE.fullmatch(line))]
    if causes:
        return (causes[-1]["message"] or causes[-1][0])[:_LONGEST]
    return _LOGGED.sub("", lines[-1])[:_LONGEST] if lines else ""


_MEANINGLESS = ("at ", "...", "Error: Could not create the Java Virtual Machine", "Error: A fatal exception has")
"""Beginnings of lines from Java that only say where in its code it was, or that it ends."""
