"""Ends the servers of a kvlab that was killed. One rule: standard library only, and no kvlab.

A program of its own, whose standard input is a pipe from the kvlab that launches servers. Each
line is a process group: ``+N`` is watched from now on, ``-N`` was stopped. When the pipe closes,
whatever the reason, each group that is still watched is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterable


def watch(lines: Iterable[str]) -> list[int]:
    """The groups that are left when ``lines`` end."""
    groups: list[int] = []
    for line in lines:
        sign, number = line[0], int(line[1:])
        groups = [group for group in groups if group != number]
        if sign == "+":
            groups.append(number)
    return groups


def kill(groups: Iterable[int]) -> None:
    """End every process of the groups at once; one that is gone is no error."""
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    kill(watch(sys.stdin))
