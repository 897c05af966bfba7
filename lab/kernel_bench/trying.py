"""One version of a case, compared and timed.

Rule: a wrong one is timed all the same, and told as wrong; nothing that a version does is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.kernel_bench.checking import Checker
from lab.kernel_bench.same import Differs
from lab.kernel_bench.words import one_line

if TYPE_CHECKING:
    from kernels.production.case import Call, Case
    from lab.kernel_bench.stopwatch import Stopwatch

PLAIN, OURS, COMPILED = "plain torch", "as chosen", "torch.compile"
Say = Callable[[str], None]


@dataclass
class Tried:
    """One version of a case: its time, whether a graph was replayed, what a cudaMemcpy took beside
    it, how far it is from plain torch, or what went wrong.
    """

    name: str
    ms: float | None = None
    graph: bool = False
    link_ms: float | None = None
    off_by: float | None = None
    error: str = ""

    def over(self, floor_ms: float) -> float | None:
        """Its time over the floor, which is the cudaMemcpy where there was one."""
        return None if self.ms is None else self.ms / (self.link_ms or floor_ms)

    def told(self, floor_ms: float) -> str:
        """The line that is printed when it is done."""
        over = self.over(floor_ms)
        of = f"a cudaMemcpy ({self.link_ms:.4f})" if self.link_ms else "the floor"
        time = "" if over is None else f"{self.ms:.4f} ms, {over:.2f}x {of}"
        off = "" if self.off_by is None else f"off by {self.off_by:.1e}"
        return f"{self.name}: " + ", ".join(part for part in (time, off, self.error) if part)


class Attempts:
    """A case's inputs and what its versions are compared with. Raises what making them raises."""

    def __init__(self, case: Case, stopwatch: Stopwatch, say: Say) -> None:
        self._case, self._stopwatch = case, stopwatch
        self._inputs = stopwatch.inputs(case)
        self._checker = _checker(case, self._inputs[0], say)

    def of(self, name: str, call: Call) -> Tried:
        """What comes of one version."""
        tried = Tried(name)
        try:
            tried.off_by = self._checker.off_by(call)
        except Differs as error:
            tried.error = f"wrong: {error}"
        except Exception as error:
            tried.error = one_line(error)
            return tried
        try:
            timed = self._stopwatch.time(self._case, call, self._inputs)
            tried.ms, tried.graph, tried.link_ms = timed
        except Exception as error:
            tried.error = one_line(error)
        return tried


def _checker(case: Case, made: Any, say: Say) -> Checker:
    """Of plain torch; of what the code chooses where there is none, or it cannot run."""
    if case.plain:
        try:
            return Checker(made, case.plain)
        except Exception as error:
            say(f"  {PLAIN} cannot run: {one_line(error)}")
    return Checker(made, case.ours)
