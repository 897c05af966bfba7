"""Processes that run one task each. One rule: what is concluded does not depend on how many.

The only executors here: a trial is an event loop under a virtual clock, and each process has a
clock of its own, so trials cannot meet. With one job the task runs in this process.

An interruption is this process's business: a worker never sees Ctrl-C, and is ended at once when
this process is interrupted, or is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar

from lab.errors import TargetError

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """``jobs`` processes that start with the first tasks and end with the block.

    >>> with Workers(1) as workers:
    ...     dict(workers.run(abs, [-1, -2]))
    {0: 1, 1: 2}
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._others: frozenset[int | None] = frozenset()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for nothing where there was an error."""
        self.close(at_once=kind is not None)

    def run(self, task: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """The position of each item and what ``task`` makes of it, as soon as it is done.

        Raises what a task raises, `TargetError` where a process died, and leaves the rest undone.
        """
        if self.jobs == 1:
            yield from ((at, task(item)) for at, item in enumerate(items))
            return
        waited: dict[Future[R], int] = {}
        try:
            waited |= {self._submit(task, item): at for at, item in enumerate(items)}
            for future in as_completed(waited):
                yield waited[future], future.result()
        except BrokenProcessPool:
            self.close(at_once=True)
            raise TargetError("a worker process died, as when memory runs out") from None
        except BaseException:
            self.close(at_once=True)
            raise

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; ``at_once``: in the middle of what they do."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if at_once:
            for child in multiprocessing.active_children():
                if child.pid not in self._others:
                    child.terminate()
        pool.shutdown(cancel_futures=True)

    def _submit(self, task: Callable[[T], R], item: T) -> Future[R]:
        """To a process that, like every one that it starts, was born deaf to Ctrl-C.

        The first semaphore of a pool would start the tracker, which unblocks the signal again.
        """
        resource_tracker.ensure_running()
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            if self._pool is None:
                self._others = frozenset(it.pid for it in multiprocessing.active_children())
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self.jobs, context, initializer=_begin)
            return self._pool.submit(task, item)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)


def _begin() -> None:
    """In the worker: an end when there is nobody left to work for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent: Any = multiprocessing.parent_process()
    wait([parent.sentinel])
    os._exit(1)
