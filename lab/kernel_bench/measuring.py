"""Each case beside plain torch, torch.compile and the floor of its own work.

Rule: all of a case's versions are timed in one run, one after another; a peer's time was measured
apart and says so. Where launches of ours overlap, as they do in a step, ours alone is measured too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lab.kernel_bench.compiling import torch_compiled
from lab.kernel_bench.trying import ALONE, COMPILED, OURS, PLAIN, Attempts, Say, Tried
from lab.kernel_bench.words import one_line

if TYPE_CHECKING:
    from kernels.production.case import Case
    from lab.kernel_bench.ceilings import Ceilings
    from lab.kernel_bench.stopwatch import Stopwatch


@dataclass(frozen=True)
class Measured:
    """A case with the times of its versions, in milliseconds; `bytes_ms` and `flops_ms` are what
    its bytes and its operations take at their ceilings, its bytes over a link by a cudaMemcpy that
    took turns with ours.
    """

    case: Case
    bytes_ms: float
    flops_ms: float
    versions: Mapping[str, Tried]

    @property
    def floor_ms(self) -> float:
        """The larger of the two."""
        return max(self.bytes_ms, self.flops_ms)

    def ms(self, version: str) -> float | None:
        """A version's time; None where it has none, or is wrong."""
        tried = self.versions.get(version)
        return tried.ms if tried and not tried.error else None

    @property
    def limit_ms(self) -> float | None:
        """What the goal allows; None without one, or without what it is told in."""
        if not (goal := self.case.goal):
            return None
        peer = self.case.peer.ms if self.case.peer else None
        of = {"floor": self.floor_ms, "link": self.bytes_ms, "torch": self.ms(PLAIN), "peer": peer}
        base = of[goal.of]
        return None if base is None else goal.times * base

    @property
    def met(self) -> bool | None:
        """Whether ours, as used, is within the goal; None where there is nothing to say."""
        return self._within(self.ms(OURS))

    @property
    def met_alone(self) -> bool | None:
        """The same of ours alone; of ours where no launch of it overlaps."""
        return self._within(self.ms(ALONE if ALONE in self.versions else OURS))

    def _within(self, ms: float | None) -> bool | None:
        if self.limit_ms is None:
            return None
        return ms is not None and ms <= self.limit_ms

    def document(self) -> dict[str, Any]:
        """JSON-ready."""
        case, ours = self.case, self.ms(OURS)
        return {
            **{key: getattr(case, key) for key in FACTS},
            "floor_ms": self.floor_ms,
            "versions": {name: asdict(tried) for name, tried in self.versions.items()},
            "peer": asdict(case.peer) | {"measured": "apart"} if case.peer else None,
            "goal": asdict(case.goal) | {"ms": self.limit_ms} if case.goal else None,
            "met": self.met,
            "met_alone": self.met_alone,
            "ours_over_floor": ratio(ours, self.floor_ms),
            "alone_over_floor": ratio(self.ms(ALONE), self.floor_ms),
            "ours_over_peer": ratio(ours, case.peer.ms if case.peer else None),
            "alone_over_peer": ratio(self.ms(ALONE), case.peer.ms if case.peer else None),
            "plain_over_ours": ratio(self.ms(PLAIN), ours),
            "compiled_over_ours": ratio(self.ms(COMPILED), ours),
            "gb_per_s": ratio(case.moved_bytes / 1e6, ours),
            "tflops": ratio(case.flops / 1e9, ours),
        }


FACTS = ("kernel", "size", "moved_bytes", "flops", "matrix", "link")


class Bench:
    """Measures one case after another; `failed` is what did not compile."""

    def __init__(
        self,
        stopwatch: Stopwatch,
        ceilings: Ceilings,
        failed: Mapping[tuple[str, str], str],
        say: Say,
    ) -> None:
        self._stopwatch, self._ceilings = stopwatch, ceilings
        self._failed, self._say = failed, say

    def measure(self, case: Case) -> Measured:
        """All versions of a case; one that fails is told with its error."""
        limits = self._ceilings
        bytes_ms, flops_ms = limits.bytes_ms(case), limits.flops_ms(case)
        self._say(f"{case.name}")
        try:
            versions = self._versions(case, Attempts(case, self._stopwatch, self._say))
        except Exception as error:
            versions = {OURS: Tried(OURS, error=one_line(error))}
        self._stopwatch.clear()
        found = Measured(case, versions[OURS].link_ms or bytes_ms, flops_ms, versions)
        for tried in versions.values():
            self._say(f"  {tried.told(found.floor_ms)}")
        return found

    def _versions(self, case: Case, attempts: Attempts) -> dict[str, Tried]:
        calls = {OURS: case.ours}
        if case.alone:
            calls[ALONE] = case.alone
        if case.plain:
            calls[PLAIN] = case.plain
            if case.compiles:
                calls[COMPILED] = torch_compiled(case.plain)
        return {
            name: Tried(name, error=failed)
            if (failed := self._failed.get((case.name, name)))
            else attempts.of(name, call)
            for name, call in calls.items()
        }


def ratio(a: float | None, b: float | None) -> float | None:
    """a / b; None where either is missing, or there is nothing to divide by."""
    return None if a is None or not b else a / b
