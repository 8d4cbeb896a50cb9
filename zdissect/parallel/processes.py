"""Processes that end with the one that started them, however that ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess


@contextmanager
def uninterruptible() -> Iterator[None]:
    """Processes started in this context are never reached by Ctrl-C, not even before they have run a line of code.

    They inherit the blocked signal. In this process it is deferred as well, as another thread may receive it; otherwise
    a process that is half started would be left behind. The resource tracker, which would unblock the signal when it
    starts, must be running already where processes need it.
    """
    interrupts: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number)) if main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if main:
            signal.signal(signal.SIGINT, handler)
    if interrupts:
        raise KeyboardInterrupt


def kill(processes: set[BaseProcess]) -> None:
    """Ends processes at once, and waits until they have ended."""
    for process in processes:
        process.kill()
    for process in processes:
        process.join()
