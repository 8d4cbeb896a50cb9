"""The network interfaces of this machine, as `-D` lists them and `-i` names them."""

import os
import socket
import sys

from zdissect.capture.errors import UsageProblem

ANY = "any"
"""All interfaces at once, on Linux."""


def interfaces() -> list[str]:
    """Names, in the order of the system; needs no permission."""
    names = [name for _, name in socket.if_nameindex()]
    return [*names, ANY] if sys.platform == "linux" else names


def interface(choice: str) -> str:
    """The name of the interface that a user chose, by name or by number in the list. Raises `UsageProblem`."""
    known = interfaces()
    if choice in known:
        return choice
    if choice.isdecimal() and 0 < int(choice) <= len(known):
        return known[int(choice) - 1]
    raise UsageProblem(choice, f"there is no such interface; there are {', '.join(known)}")


def loopback(name: str) -> bool:
    """Whether this is the name of a loopback interface, which is much the same on all systems."""
    return name.rstrip("0123456789") == "lo"


def listing() -> list[str]:
    """The lines of `-D`, as tshark writes them."""
    out = []
    for number, name in enumerate(interfaces(), 1):
        more = " (all interfaces)" if name == ANY else " (Loopback)" if loopback(name) else ""
        out.append(f"{number}. {name}{more}")
    return out


def executable(program: str) -> str | None:
    """The path of a program, in PATH or in the directories of system administration; None if it isn't installed."""
    import shutil  # only a live capture needs it

    path = os.environ.get("PATH", os.defpath)
    return shutil.which(program, path=os.pathsep.join((path, "/usr/sbin", "/sbin", "/usr/local/sbin")))
