"""A file to bisect, and a world of known culprits in the engine's place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from lab.bisect.notebook import Refused
from lab.bisect.space import Config
from lab.bisect.trials import Outcome, Trial
from lab.bisect.worlds import SimulatedWorld
from lab.bisecting.world import trial_seed
from lab.scenario.models import Scenario

EXPOSURE = {"graph_replays": 9, "prefix_hits": 9, "padded_rows": 9, "overlap_steps": 9}
VIOLATION = "padded_row_wrote_owned_slot"
CAMPAIGN = """\
name: campaign
about: four toggles, of which two are to blame
build: [padded_scatter_stale_slots]
workload: {kind: tool_sessions, preset: small, sessions: 6}
engine: {radix: true}
toggles:
  index_k: {bad: bf16, good: fp8}
  graph: {bad: true, good: false}
  overlap: {bad: true, good: false}
  concurrency: {bad: 8, good: 1}
seed: 3
"""


def write(folder: Path, text: str = CAMPAIGN) -> Path:
    """The text as ``campaign.yaml``."""
    path = folder / "campaign.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@dataclass
class Fake:
    """Makes worlds, and knows what they ran; ``raises`` after so many trials in all.

    What has some toggles bad and not all, and ``needs`` not among them, is refused; in ``dead``
    trials, numbered from 0 as they run, the engine dies.
    """

    culprits: frozenset[str] = frozenset({"index_k", "graph"})
    p1: float = 0.4
    stops_after: int | None = None
    raises: BaseException = field(default_factory=KeyboardInterrupt)
    needs: str = ""
    dead: range = range(0)
    ran: list[tuple[Config, int]] = field(default_factory=list)
    asked: list[tuple[str, str, int]] = field(default_factory=list)  # scenario, outcome, jobs

    def __call__(
        self, scenario: Scenario, sought: str, jobs: int, told: Callable[[Config, Trial], None]
    ) -> FakeWorld:
        self.asked.append((scenario.name, sought, jobs))
        world = SimulatedWorld(
            tuple(scenario.toggles),
            self.culprits,
            p1=self.p1,
            seed=scenario.seed,
            batch_sessions=scenario.workload.sessions,
        )
        return FakeWorld(world, self, told)


@dataclass
class FakeWorld:
    """A simulated world that tells of every trial, as the engine's does."""

    world: SimulatedWorld
    of: Fake
    told: Callable[[Config, Trial], None]
    boot_cost: float = 0.0
    closed: bool = False

    @property
    def batch_sessions(self) -> int:
        return self.world.batch_sessions

    def __enter__(self) -> FakeWorld:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closed = True

    def probe(self, config: Config, indices: range) -> Outcome:
        if 0 < len(config.bad) < len(self.world.toggles) and self.of.needs:
            if self.of.needs not in config.bad:
                raise Refused(f"needs {self.of.needs}")
        return tuple(self._trial(config, index) for index in indices)

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        return ""

    def _trial(self, config: Config, index: int) -> Trial:
        if len(self.of.ran) == self.of.stops_after:
            raise self.of.raises
        dies = len(self.of.ran) in self.of.dead
        self.of.ran.append((config, index))
        (trial,) = self.world.probe(config, range(index, index + 1))
        violations = {VIOLATION: 4 * trial.corrupt} if trial.corrupt else {}
        trial = replace(trial, exposure=EXPOSURE, violations=violations, wall_s=0.5)
        trial = replace(trial, seed=trial_seed(self.world.seed, index))
        if dies:
            trial = replace(trial, corrupt=0, violations={}, unknown="the engine died: it broke")
        self.told(config, trial)
        return trial
