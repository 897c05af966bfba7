"""Work in processes of its own, so that a kernel that crashes or hangs takes nothing with it.

Rule: a task that ends its process fails alone; another process takes up the rest, as it does after
one that ended while it had nothing to do. All of them are gone when the last answer is given.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from engine.clock import wall_s

T = TypeVar("T")
PATIENCE_S = 300.0  # a process starts, torch compiles for the first time, the task runs
Work = Callable[[T], tuple[str, bool]]  # what went wrong, or ""; whether the process is done for


class _Hand(Generic[T]):
    """One process, which does a task at a time until its end of the pipe is closed."""

    def __init__(self, work: Work[T]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self._process.start()
        theirs.close()
        self.done_for = False

    def give(self, task: T) -> None:
        """Hand it a task; `answer` follows. Raises OSError where its process has ended."""
        self.task, self.since_s = task, wall_s()
        self.pipe.send(task)

    def answer(self) -> str:
        """What went wrong with the task, or ""."""
        try:
            error, self.done_for = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.done_for = True
            self._process.join()
            return f"its process ended with code {self._process.exitcode}"
        return str(error)

    def end(self, *, at_once: bool) -> None:
        """Close the pipe and wait for the process; `at_once`: end what it does."""
        self.pipe.close()
        if at_once:
            self._process.kill()
        self._process.join(10)
        self._process.kill()
        self._process.join()


def run_apart(
    work: Work[T], tasks: Sequence[T], jobs: int, patience_s: float = PATIENCE_S
) -> Iterator[tuple[T, str]]:
    """Each task and what went wrong with it, or "", as they end; `jobs` processes at a time."""
    left, idle, busy = list(reversed(tasks)), list[_Hand[T]](), dict[Connection, _Hand[T]]()
    try:
        while left or busy:
            while left and len(busy) < jobs:
                hand = _given(idle, work, left.pop())
                busy[hand.pipe] = hand
            for ready in wait(list(busy), timeout=1.0):
                assert isinstance(ready, Connection)
                hand = busy.pop(ready)
                yield hand.task, hand.answer()
                hand.end(at_once=False) if hand.done_for else idle.append(hand)
            for late in [hand for hand in busy.values() if wall_s() - hand.since_s > patience_s]:
                busy.pop(late.pipe).end(at_once=True)
                yield late.task, f"no answer in {patience_s:.0f} s"
    finally:
        for hand in (*idle, *busy.values()):
            hand.end(at_once=hand in busy.values())


def _given(idle: list[_Hand[T]], work: Work[T], task: T) -> _Hand[T]:
    """Who does a task: an idle process, or a new one where all that were idle have ended."""
    while idle:
        hand = idle.pop()
        try:
            hand.give(task)
        except OSError:
            hand.end(at_once=True)
        else:
            return hand
    hand = _Hand(work)
    hand.give(task)
    return hand


def _serve(pipe: Connection, work: Work[T]) -> None:
    """In the process: tasks until there are no more; Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        error, done_for = work(task)
        pipe.send((error, done_for))
        if done_for:
            os._exit(1)
