"""One process of a server. One rule: it leads a group of its own, and the whole group ends with it.

What it prints goes to a log file whose first line is its command. A `Guard` ends the groups of a
kvlab that was itself killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from engine.clock import deadline
from lab.errors import TargetError
from lab.launching import guard
from lab.launching.logs import PRIVATE, last_error, last_line

if TYPE_CHECKING:
    from pathlib import Path

    from lab.profiles import NodeCommand

KILLED_S = 10.0  # a process that was killed is gone, unless a driver holds it


class Process:
    """A started node; raises `TargetError` where its command cannot be started at all."""

    def __init__(self, command: NodeCommand, log: Path) -> None:
        self.command, self.log = command, log
        # `env` adds to the environment that we were given, and then becomes the command itself
        sets = [f"{name}={value}" for name, value in command.env.items()]
        argv = ["env", *sets, *command.argv] if sets else list(command.argv)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch(mode=PRIVATE)
        with log.open("wb") as out:
            out.write(f"$ {command.line}\n".encode())
            out.flush()
            try:
                self._popen = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    cwd=command.cwd or None,
                    start_new_session=True,
                )
            except OSError as error:
                what = f"{error.filename or argv[0]}: {error.strerror}"
                raise TargetError(f"node {command.name} cannot be started: {what}") from None

    @property
    def pid(self) -> int:
        """Its process, and its group."""
        return self._popen.pid

    def wait(self, seconds: float) -> bool:
        """Let at most ``seconds`` pass; whether it has ended."""
        try:
            self._popen.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def died(self) -> str | None:
        """How it ended, in one line; None while it runs."""
        code = self._popen.poll()
        if code is None:
            return None
        how = f"was ended by {_signal(-code)}" if code < 0 else f"ended with exit code {code}"
        said = last_line(self.log) if code < 0 else last_error(self.log)
        return f"node {self.command.name} {how}{said and f': {said}'}; log: {self.log}"

    def stop(self, grace_s: float) -> None:
        """SIGTERM, ``grace_s`` to end in, then SIGKILL for all that is left of the group."""
        left = deadline(grace_s)
        try:
            with contextlib.suppress(ProcessLookupError):
                self._popen.terminate()
            self.wait(left())
        finally:
            guard.kill([self.pid])
            self.wait(KILLED_S)


class Guard:
    """The process that watches over the groups for as long as this one lives."""

    def __init__(self) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """End the group when we are gone."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """The group has ended."""
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """End the guard, and with it what it still watches."""
        assert self._popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._popen.stdin.close()
        self._popen.wait()

    def _tell(self, line: str) -> None:
        assert self._popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # somebody ended the guard: we still stop ours
            self._popen.stdin.write(line.encode())
            self._popen.stdin.flush()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
