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


def hears_interruptions(number: int) -> bool:
    """Whether Ctrl-C, which goes to every process of a terminal, would reach this one."""
    os.kill(os.getpid(), signal.SIGINT)
    return signal.SIGINT not in signal.sigpending()


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
