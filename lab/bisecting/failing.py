"""Which failing trial a bisection leaves to whoever has to debug it.

One rule: the fewest toggles bad that were seen to fail, and of its trials the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.bisecting.outcomes import verdict_of
from lab.bisecting.replay import replay
from lab.bisecting.space_of import arm_of

if TYPE_CHECKING:
    from pathlib import Path

    from lab.bisect.space import Config
    from lab.bisect.trials import Trial
    from lab.bisecting.document import Bisected
    from lab.store import Results


def failing(done: Bisected) -> tuple[Config, Trial] | None:
    """A configuration with all culprits bad and one of its corrupt trials; None without culprits.

    Knobs at levels between good and bad are left to the bracket, and a trial whose verdict is not
    what was sought (wedged, with wrong replies before) is none that a file could promise.
    """
    culprits = frozenset(done.conclusion.culprits)
    corrupt = [
        (probe.config, trial)
        for probe in done.notebook.probes
        if culprits and culprits <= probe.config.bad and not probe.config.levels
        for trial in probe.outcome
        if trial.corrupt and trial.verdict in ("", verdict_of(done.outcome))
    ]
    return min(corrupt, key=lambda pair: len(pair[0].bad), default=None)


def replayed(results: Results, done: Bisected, folder: Path) -> dict[str, Any] | None:
    """Shorten and store that trial; its document, or None where there is none.

    Raises `LabError` where it does not end alike again, `KeyboardInterrupt` on the user's word.
    """
    found = failing(done)
    if found is None:
        return None
    config, trial = found
    overrides = arm_of(done.scenario, config).overrides
    made = replay(done.scenario, overrides, trial.seed, done.outcome, results, folder)
    return made.document()
