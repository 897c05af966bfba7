"""Every candidate compiled before the first is timed: Triton's cache is filled by many processes.

Rule: a candidate that fails here is never called in the process that measures, which a fault on the
device would end.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from lab.kernel_bench.apart import run_apart
from lab.kernel_bench.found import named
from lab.kernel_bench.words import one_line

if TYPE_CHECKING:
    from kernels.production.case import Case

OURS = "as chosen"


@dataclass(frozen=True)
class Task:
    """A candidate of a case, by names that another process can look up."""

    module: str
    case: str
    candidate: str
    device: str


def tasks(found: Sequence[tuple[str, Case]], device: str, candidates: bool = True) -> list[Task]:
    """What each case calls, and each of its candidates."""
    return [
        Task(module, case.name, name, device)
        for module, case in found
        for name in (OURS, *(case.candidates if candidates else ()))
    ]


def compiled(todo: Sequence[Task], jobs: int) -> Iterator[tuple[Task, str]]:
    """Calls each once in processes of their own; yields it and one line of what went wrong."""
    yield from run_apart(call_once, todo, min(jobs, max(1, len(todo))))


def call_once(task: Task) -> tuple[str, bool]:
    """In a process of its own: an error in one line, and whether the device is lost with it."""
    try:
        case, made = _inputs(task.module, task.case, task.device)
        (case.ours if task.candidate == OURS else case.candidates[task.candidate])(made)
        _wait()
    except Exception as error:
        return one_line(error), _is_lost()
    return "", False


@functools.lru_cache(maxsize=1)
def _inputs(module: str, name: str, device: str) -> tuple[Case, Any]:
    torch.cuda.empty_cache()
    case = named(module, name, device)
    return case, case.make(0)


def _is_lost() -> bool:
    try:
        _wait()
    except Exception:
        return True
    return False


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
