"""Every version compiled before the first is timed: the caches on disk of Triton and of
torch.compile are filled by many processes.

Rule: a version that fails here is never called in the process that measures, which a fault on the
device would end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import torch

from engine.clock import wall_s
from lab.kernel_bench.apart import run_apart
from lab.kernel_bench.device import settle
from lab.kernel_bench.found import named
from lab.kernel_bench.trying import ALONE, COMPILED, OURS
from lab.kernel_bench.words import one_line
from lab.versions import cores

if TYPE_CHECKING:
    from kernels.production.case import Call, Case
    from lab.kernel_bench.trying import Say

DIVIDES_EXACTLY = "emulate_divison_rounding"  # torch's own name for it in older versions
Failed = dict[tuple[str, str], str]  # what went wrong, by case and version


@dataclass(frozen=True)
class Task:
    """A version of a case, by names that another process can look up."""

    module: str
    case: str
    version: str
    device: str


def compile_all(found: Sequence[tuple[str, Case]], say: Say, tuning: bool) -> Failed:
    """Calls what each case chooses once, and all candidates (`tuning`), or ours alone and its
    compiled torch.
    """
    began, todo = wall_s(), tasks(found, "cuda", tuning)
    jobs = min(cores(), max(1, len(todo)))
    say(f"compiling {len(todo)} versions of {len(found)} cases in {jobs} processes")
    failed: Failed = {}
    for task, error in compiled(todo, jobs):
        if error:
            failed[task.case, task.version] = error
            say(f"  {task.case}: {task.version}: {error}")
    say(f"compiled in {wall_s() - began:.0f} s; {len(failed)} failed")
    return failed


def tasks(found: Sequence[tuple[str, Case]], device: str, tuning: bool) -> list[Task]:
    """What each case chooses, then its candidates, or ours alone and its compiled torch: a version
    of every case before the next of any, so that the largest inputs are not all made at once.
    """
    versions = [
        [
            Task(module, case.name, name, device)
            for name in (OURS, *(case.candidates if tuning else _beside(case)))
        ]
        for module, case in found
    ]
    return [task for turn in zip_longest(*versions) for task in turn if task]


def compiled(todo: Sequence[Task], jobs: int) -> Iterator[tuple[Task, str]]:
    """Calls each once in processes of their own; yields it and one line of what went wrong."""
    yield from run_apart(call_once, todo, jobs)


def call_once(task: Task) -> tuple[str, bool]:
    """In a process of its own: an error in one line, and whether the device is lost with it.

    Many processes share the device's memory: a call that finds too little is not a failure.
    """
    try:
        torch.cuda.empty_cache()
        case = named(task.module, task.case, task.device)
        _version(case, task.version)(case.make(0))
        settle()
    except torch.OutOfMemoryError:
        return "", False
    except Exception as error:
        return one_line(error), _is_lost()
    return "", False


def torch_compiled(plain: Call) -> Call:
    """Plain torch, compiled at its first call, by this process alone; nothing is left of what was
    compiled before. It divides as plain torch does: a scale's last bit is compared.
    """
    from torch._inductor import config

    config.compile_threads = 1
    numerics: Any = getattr(config, "eager_numerics", None)
    if numerics is not None:
        numerics.division_rounding = True
    elif hasattr(config, DIVIDES_EXACTLY):
        setattr(config, DIVIDES_EXACTLY, True)
    torch.compiler.reset()
    return torch.compile(plain)


def _beside(case: Case) -> Iterator[str]:
    if case.plain and case.compiles:
        yield COMPILED
    if case.alone:
        yield ALONE


def _version(case: Case, name: str) -> Call:
    if name == COMPILED and case.plain:
        return torch_compiled(case.plain)
    if name == ALONE and case.alone:
        return case.alone
    return case.ours if name == OURS else case.candidates[name]


def _is_lost() -> bool:
    try:
        settle()
    except Exception:
        return True
    return False
