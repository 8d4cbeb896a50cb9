"""Runs zdissect in processes that have all modules loaded, with whatever standard streams: some milliseconds each.

`python -m tests.faults.fork_server` reads a request in each line of standard input; it answers with the number of the
process, and with its exit code when it has ended.
"""

import json
import os
import resource
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import zdissect_cli
from zdissect_cli import main, stdio

import zdissect
from zdissect.capture import capture_file, leftovers
from zdissect.export.payload_files import PayloadFiles

ELSEWHERE = ("zdissect.spark", "zdissect.scapy", "zdissect_cli.__main__")
"""What isn't loaded: Spark, scapy, and what would run at once."""
_FLAGS = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_APPEND, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def serve() -> None:
    """Answers requests until standard input ends."""
    for package in (zdissect, zdissect_cli):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(ELSEWHERE):
                with suppress(ImportError):  # of an extra
                    import_module(module.name)
    from zdissect.filters.syntax import parse

    parse("sn")  # makes the parser
    with suppress(ImportError):
        from zdissect_cli.ros_reading import contents_of

        if (contents := contents_of(())) is not None:
            contents.types.find("std_msgs::msg::dds_::String_", "")
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    print("ready", file=answers, flush=True)
    for line in requests:
        pid = os.fork()
        if not pid:
            run(json.loads(line))
        print(pid, file=answers, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    requests.close()
    answers.close()


def run(request: dict[str, Any]) -> None:
    """Becomes the run of a command.

    Args:
        request: `args`; `streams`, paths for descriptors 0 to 2, null for a closed one, `|` for a pipe that nobody
            reads; `folder` to work in; `file_bytes`, what a file can grow to, if that is limited; `changing`, a file
            that becomes another while it is read, with the path of that; `killed`, whether to kill it before its
            output has its name; `audit`, a file for what it does beyond computing.
    """
    os.chdir(request["folder"])
    for number, (path, flags) in enumerate(zip(request["streams"], _FLAGS, strict=True)):
        os.close(number)
        if path is not None:
            opened = _unread_pipe() if path == "|" else os.open(path, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    os.closerange(3, 100)
    closed = [path is None for path in request["streams"]]
    sys.stdin = None if closed[0] else open(0, closefd=False)  # type: ignore[assignment]  # noqa: SIM115
    sys.stdout = None if closed[1] else open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[assignment]  # noqa: SIM115
    sys.stderr = None if closed[2] else open(2, "w", encoding="utf-8", closefd=False)  # type: ignore[assignment]  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request.get("file_bytes") is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # EFBIG instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_bytes"],) * 2)
    if request.get("changing") is not None:
        _change(*request["changing"])
    if request.get("audit"):
        _audit(request["audit"])
    if request.get("killed"):
        _killed_when_complete()
    sys.argv = ["zdissect", *request["args"]]
    code = 70
    try:
        main.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if stdio.finish() is not None:
            code = 120  # as the interpreter ends that can't write what is left
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _unread_pipe() -> int:
    """The end of a pipe to which nothing can be written."""
    reader, writer = os.pipe()
    held = os.dup(os.dup(writer))  # not one of the three numbers
    os.close(reader)
    os.close(writer)
    return held


def _audit(log: str) -> None:
    """Has what this process does beyond computing written to a file, a line of JSON each: code that isn't of a file,
    files opened to be written, programs, connections.
    """
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            said = [event, os.fsdecode(args[0]) if isinstance(args[0], str | bytes) else args[0]]
        elif event == "compile" and str(args[1]).startswith("<"):
            said = [event, args[0].decode() if isinstance(args[0], bytes) else str(args[0])]
        elif event.startswith(("os.system", "os.exec", "os.posix_spawn", "subprocess.", "socket.")):
            said = [event, str(args)]
        elif event in ("os.rename", "os.mkdir", "os.remove", "os.link", "os.symlink", "shutil.rmtree"):
            said = [event, *(os.fsdecode(arg) for arg in args if isinstance(arg, str | bytes))]
        else:
            return
        os.write(file, f"{json.dumps(said)}\n".encode())

    sys.addaudithook(hook)


def _killed_when_complete() -> None:
    """Has this process killed when an output is complete, but hasn't its name yet."""

    def killed(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    leftovers.Temporary.put = PayloadFiles._put = killed  # type: ignore[method-assign, assignment]
    with suppress(ImportError):
        from zdissect.export.target import Target

        Target.finish = killed  # type: ignore[method-assign, assignment]


def _change(path: str, other: str) -> None:
    """Puts the bytes of another file in place of those of a file, when a few of its frames have been read."""
    frames = capture_file._frames

    def changing(file: Any, reader: Any) -> Any:
        for number, frame in enumerate(frames(file, reader)):
            if number == 5:
                with open(other, "rb") as new, open(path, "r+b") as old:
                    old.write(data := new.read())
                    old.truncate(len(data))
            yield frame

    capture_file._frames = changing
    capture_file._BUFFER = 512


if __name__ == "__main__":
    serve()
