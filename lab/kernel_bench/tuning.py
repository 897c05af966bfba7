"""Every candidate of every case, timed one after another: which choice stands in the code.

Rule: nothing else runs while a candidate is timed, and one that fails is listed with its error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from engine.clock import wall_s
from lab.kernel_bench.trying import OURS, PLAIN, Attempts, Say, Tried
from lab.kernel_bench.words import one_line

if TYPE_CHECKING:
    from kernels.production.case import Case
    from lab.kernel_bench.ceilings import Ceilings
    from lab.kernel_bench.stopwatch import Stopwatch


@dataclass
class Tuned:
    """A case and all that was tried on it. Milliseconds."""

    kernel: str
    size: str
    floor_ms: float
    tried: list[Tried] = field(default_factory=list)

    @property
    def best(self) -> Tried | None:
        """The fastest candidate that is right, over its floor; also what the code chooses, where
        that is it.
        """
        right = [it for it in self.tried if it.ms is not None and not it.error and it.name != PLAIN]
        return min(right, key=lambda it: it.over(self.floor_ms) or 0.0, default=None)

    def document(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self) | {"best": self.best.name if self.best else None}


class Tuner:
    """Times the candidates of one case after another, within a budget of seconds a case.

    `failed` holds what went wrong with a (case, candidate) when it was compiled.
    """

    def __init__(
        self,
        stopwatch: Stopwatch,
        ceilings: Ceilings,
        failed: Mapping[tuple[str, str], str],
        seconds: float,
        say: Say,
    ) -> None:
        self._stopwatch, self._ceilings, self._failed = stopwatch, ceilings, failed
        self._seconds, self._say = seconds, say

    def tune(self, case: Case) -> Tuned:
        """All candidates of a case; what goes wrong with the case itself is its only line."""
        tuned = Tuned(case.kernel, case.size, self._ceilings.floor_ms(case))
        self._say(f"{case.name}: the floor is {tuned.floor_ms:.4f} ms")
        for tried in self._versions(case):
            tuned.tried.append(tried)
            self._say(f"  {tried.told(tuned.floor_ms)}")
        self._stopwatch.clear()
        return tuned

    def _versions(self, case: Case) -> Iterator[Tried]:
        began = wall_s()
        plain = {PLAIN: case.plain} if case.plain else {}
        versions = {**plain, OURS: case.ours, **case.candidates}
        try:
            attempts = Attempts(case, self._stopwatch, self._say)
        except Exception as error:
            yield Tried(next(iter(versions)), error=one_line(error))
            return
        for name, call in versions.items():
            failed = self._failed.get((case.name, name), "")
            if failed or wall_s() - began > self._seconds:
                yield Tried(name, error=failed or f"skipped: {self._seconds:g} s were spent")
            else:
                yield attempts.of(name, call)
