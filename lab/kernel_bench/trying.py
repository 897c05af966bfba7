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
ALONE = "as chosen, alone"  # no launch overlaps with the one before it
REFERENCE = "reference"
Say = Callable[[str], None]


@dataclass
class Tried:
    """One version of a case: its time, whether a graph was replayed, what a cudaMemcpy took beside
    it, how far it is from what it was compared with (`against`; nothing: it is unchecked), or what
    went wrong.
    """

    name: str
    ms: float | None = None
    graph: bool = False
    link_ms: float | None = None
    off_by: float | None = None
    against: str = ""
    error: str = ""

    def over(self, floor_ms: float) -> float | None:
        """Its time over the floor, which is the cudaMemcpy where there was one."""
        return None if self.ms is None else self.ms / (self.link_ms or floor_ms)

    def told(self, floor_ms: float) -> str:
        """The line that is printed when it is done."""
        over = self.over(floor_ms)
        of = f"a cudaMemcpy ({self.link_ms:.4f})" if self.link_ms else "the floor"
        time = "" if over is None else f"{self.ms:.4f} ms, {over:.2f}x {of}"
        unchecked = "" if self.against or self.error or self.name == PLAIN else "unchecked"
        off = unchecked if self.off_by is None else f"off by {self.off_by:.1e}"
        return f"{self.name}: " + ", ".join(part for part in (time, off, self.error) if part)


class Attempts:
    """A case's inputs and what its versions are compared with: the reference, plain torch where
    there is none, or ours, which nothing checks then. Raises what making them raises.
    """

    def __init__(self, case: Case, stopwatch: Stopwatch, say: Say) -> None:
        self._case, self._stopwatch = case, stopwatch
        self._inputs = stopwatch.inputs(case)
        self._against, self._checker = _checker(case, self._inputs[0], say)

    def of(self, name: str, call: Call) -> Tried:
        """What comes of one version."""
        tried = Tried(name)
        try:
            off_by = self._checker.off_by(call)
            if name != self._against:
                tried.off_by, tried.against = off_by, self._against
        except Differs as error:
            tried.error, tried.against = f"wrong: {error}", self._against
        except Exception as error:
            tried.error = one_line(error)
            return tried
        try:
            timed = self._stopwatch.time(self._case, call, self._inputs)
            tried.ms, tried.graph, tried.link_ms = timed
        except Exception as error:
            tried.error = one_line(error)
        return tried


def _checker(case: Case, made: Any, say: Say) -> tuple[str, Checker]:
    """The first that runs of the reference, plain torch, and what the code chooses; its name."""
    for name, call in ((REFERENCE, case.base), (PLAIN, case.plain)):
        if call:
            try:
                return name, Checker(made, call)
            except Exception as error:
                say(f"  {name} cannot run: {one_line(error)}")
    return OURS, Checker(made, case.ours)
