"""Tasks for worker processes, which import them by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from lab.bisecting.workers import Workers
from lab.errors import UserError


def square(number: int) -> int:
    return number * number


def own_process(number: int) -> int:
    return os.getpid()


def refuse(number: int) -> int:
    raise UserError(f"not with {number}")


def die(number: int) -> int:
    os._exit(9)


def deafness(place: tuple[str, int]) -> tuple[int, bool, bool]:
    """This process, whether it was born deaf to Ctrl-C and whether it ignores what it hears.

    It waits for as many others as it was told, so every process answers once.
    """
    folder, many = place
    Path(folder, str(os.getpid())).touch()
    started(Path(folder), many)
    born = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return os.getpid(), born, signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def long(folder: str) -> int:
    """Leaves its process' number, and then is busy for longer than any test."""
    Path(folder, str(os.getpid())).touch()
    until = time.monotonic() + 600
    while time.monotonic() < until:
        pass
    return 0


def started(folder: Path, many: int) -> list[int]:
    """The processes that were left there, once there are so many."""
    while len(found := [int(path.name) for path in folder.iterdir()]) < many:
        time.sleep(0.02)
    return found


if __name__ == "__main__":  # a parent for a test to kill
    with Workers(2) as workers:
        dict(workers.run(long, [sys.argv[1], sys.argv[1]]))
