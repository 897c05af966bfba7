"""The target of a scenario, as a search asks it: one trial an index, judged.

One rule: a trial is a function of the scenario's seed, its configuration and its index, so that
trials of one index have the same load in every configuration, and `kvlab run --seed` repeats each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from lab import interrupts
from lab.bisect.notebook import Refused
from lab.bisect.trials import Trial, summed
from lab.bisecting.outcomes import CORRUPT, OUTCOMES
from lab.bisecting.space_of import arm_of
from lab.bisecting.workers import Workers
from lab.copies import copy_paths
from lab.errors import UserError
from lab.exposure import unexercised
from lab.judging import judge_arm
from lab.remedies import explained
from lab.scenario.checks import refusal
from lab.trial import run_arm

if TYPE_CHECKING:
    from types import TracebackType

    from lab.bisect.space import Config
    from lab.bisect.trials import Outcome
    from lab.launching import Servers
    from lab.scenario.models import Arm, Scenario

Told = Callable[["Config", Trial], None]
SEED_BYTES = 6


class EngineWorld:
    """A `lab.bisect.notebook.World` over `run_arm`; a block, since its processes have an end.

    ``outcome`` is what counts as corrupt. ``told`` hears of every trial as it ends, so an
    interruption need lose only what was running.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int,
        outcome: str = CORRUPT,
        jobs: int = 1,
        told: Told = lambda config, trial: None,
    ) -> None:
        self._scenario, self._seed, self._outcome = scenario, seed, outcome
        self._workers, self._told = Workers(jobs), told

    def __enter__(self) -> EngineWorld:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._workers.__exit__(kind, error, trace)

    @property
    def batch_sessions(self) -> int:
        """Sessions of one trial."""
        return self._scenario.workload.sessions

    @property
    def boot_cost(self) -> float:
        """What starting another configuration costs, in sessions."""
        return self._scenario.bisect.boot_cost

    def probe(self, config: Config, indices: range) -> Outcome:
        """One trial an index, in order; raises `Refused`, and `TargetError` of a broken target."""
        arm = arm_of(self._scenario, config)
        if why := refusal(self._scenario, arm):
            raise Refused(why)
        task = partial(run_trial, self._scenario, arm, self._seed, self._outcome)
        found: dict[int, Trial] = {}
        try:
            for _, trial in self._workers.run(task, indices):
                found[trial.index] = trial
                self._told(config, trial)
                interrupts.check()
        except UserError as error:
            raise Refused(str(error).removeprefix(f"arm {arm.name!r}: ")) from None
        return tuple(found[index] for index in indices)

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        """Which toggles that are on none of the trials went through, and why; else empty."""
        settings = self._scenario.settings(arm_of(self._scenario, config))
        counters = summed(trial.exposure for trial in trials)
        idle = unexercised(settings, counters, not self._scenario.target.bundled)
        never = [explained(key, settings, counters) for key in idle]
        return f"never exercised: {', '.join(never)}" if never and trials else ""


def trial_seed(seed: int, index: int) -> int:
    """The seed of trial ``index`` of a bisection with ``seed``: the first 48 bits of the SHA-256 of
    ``seed:index``. Bisections of other seeds share no loads.

    >>> trial_seed(0, 0), trial_seed(0, 1)
    (189606541285482, 262866211575819)
    """
    digest = hashlib.sha256(f"{seed}:{index}".encode()).digest()
    return int.from_bytes(digest[:SEED_BYTES], "big")


def run_trial(
    scenario: Scenario,
    arm: Arm,
    seed: int,
    outcome: str,
    index: int,
    servers: Servers | None = None,
) -> Trial:
    """Run and judge one trial, on the run's servers where they are launched; raises `LabError`."""
    own = trial_seed(seed, index)
    history = run_arm(scenario, arm, own, servers=servers)
    verdict, findings = judge_arm(history)
    bad, unknown = OUTCOMES[outcome](history, verdict, findings)
    return Trial(
        index=index,
        sessions=verdict.sessions or (history.sessions if bad else 0),
        corrupt=bad,
        unknown=unknown,
        verdict=verdict.verdict,
        seed=own,
        violations=verdict.violations,
        faults=verdict.faults,
        exposure=verdict.exposure,
        reach=reach(history.counters),
        digest=history.history_digest,
        wall_s=history.wall_s,
    )


def reach(counters: Mapping[str, int]) -> dict[str, int]:
    """Calls of each copy path between tiers, ``pool:operation:branch:layout``, zeros too."""
    return {
        ":".join((it.pool, it.operation, it.branch, it.layout)): it.calls
        for it in copy_paths(counters)
    }
