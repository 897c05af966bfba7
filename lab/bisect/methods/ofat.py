"""One factor at a time, as by hand: each toggle good by itself, sixty sessions an arm.

One rule: every arm is read by itself, against the arm with all toggles bad. Nothing corrects for
the number of arms, and nothing says how many sessions the rate would need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lab.bisect.conclusion import Belief, Discovery
from lab.bisect.methods import METHODS
from lab.bisect.notebook import OutOfBudget, Phase, Refused
from lab.bisect.trials import Tally, Unit
from lab.stats import fisher

if TYPE_CHECKING:
    from lab.bisect.methods import Believe
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config, Space

ARM_SESSIONS = 60
SIGNIFICANT = 0.05
Reading = Callable[[Tally, Tally], bool]  # an arm, all toggles bad -> whether it is cleared


@METHODS.register("ofat")
def ofat(
    notebook: Notebook, space: Space, params: Parameters, unit: Unit, believe: Believe
) -> Discovery:
    """To blame is a toggle whose arm is rarer corrupt, by Fisher's test at 5 %."""
    try:
        top_up(notebook, space.suspect)
    except OutOfBudget as over:
        return Discovery(None, space.toggles, reason=str(over))
    return read(notebook, space, unit, believe, differs)


def ofat_clean(
    notebook: Notebook, space: Space, params: Parameters, unit: Unit, believe: Believe
) -> Discovery:
    """To blame is a toggle whose arm shows no corrupt session at all."""
    return read(notebook, space, unit, believe, lambda arm, suspect: arm.corrupt == 0)


def differs(arm: Tally, suspect: Tally) -> bool:
    """Rarer, and by Fisher's exact test not by chance."""
    p_value = fisher(arm.corrupt, arm.units, suspect.corrupt, suspect.units)
    return arm.rate < suspect.rate and p_value < SIGNIFICANT


def read(
    notebook: Notebook, space: Space, unit: Unit, believe: Believe, cleared: Reading
) -> Discovery:
    """Run the arms and read them; a refused arm says nothing about its toggle."""
    arms: dict[str, Tally] = {}
    refused: list[str] = []
    whole = space.mask(space.toggles)
    for key in space.toggles:
        config = space.config(space.without(whole, key))
        try:
            top_up(notebook, config)
        except Refused:
            refused.append(key)
            continue
        except OutOfBudget as over:
            return Discovery(None, space.toggles, reason=str(over))
        arms[key] = notebook.tally(config, unit)
        blamed = _blamed(arms, notebook.tally(space.suspect, unit), cleared)
        believe(Belief(notebook.spent, ((blamed, 0.0),)))
    blamed = _blamed(arms, notebook.tally(space.suspect, unit), cleared)
    reason = f"not run, for the target refuses it: {', '.join(refused)} good" if refused else ""
    if not blamed:
        reason = reason or "no toggle makes a difference by itself"
        return Discovery(None, space.toggles, reason=reason)
    return Discovery(blamed, space.toggles, candidates=(blamed,), reason=reason)


def top_up(notebook: Notebook, config: Config) -> None:
    """Run what an arm lacks of its sessions; what was run of it before counts."""
    seen = sum(trial.sessions for trial in notebook.trials(config))
    if seen < ARM_SESSIONS:
        missing = notebook.trials_for(ARM_SESSIONS - seen, Unit.SESSION)
        notebook.ask(Phase.DISCOVER, config, missing)


def _blamed(arms: Mapping[str, Tally], suspect: Tally, cleared: Reading) -> tuple[str, ...]:
    return tuple(key for key, arm in arms.items() if arm.units and cleared(arm, suspect))
