"""Phase 0: every toggle bad is corrupt, every toggle good is not. Else there is nothing to find.

One rule: an arm that never went where its settings point proves nothing, however clean it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, pi
from typing import TYPE_CHECKING

from lab.bisect.conclusion import Verdict
from lab.bisect.notebook import OutOfBudget, Phase, Refused
from lab.bisect.trials import Tally, Unit, tally
from lab.bisect.units import choose, first, held_to
from lab.stats import lower_bound, upper_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config, Space
    from lab.bisect.trials import Trial

Ended = tuple[Verdict, str]  # how it ended, and why


@dataclass(frozen=True)
class Reproduction:
    """Whether there is something to find: ``verdict`` None means so."""

    verdict: Verdict | None
    reason: str
    unit: Unit
    bad: Tally
    good: Tally


def reproduce(notebook: Notebook, space: Space, params: Parameters) -> Reproduction:
    """All bad until enough is corrupt or the rate is excluded; then all good, as many units."""
    batch_sessions = notebook.world.batch_sessions
    counting = first(params, batch_sessions)
    held = held_to(params, counting, batch_sessions)
    try:
        ended = _suspect(notebook, space.suspect, held, counting)
        ended = ended or _control(notebook, space, held, counting)
    except OutOfBudget as end:
        seen = notebook.tally(space.suspect, counting, Phase.REPRODUCE)
        wanted = _wanted(held, counting, batch_sessions)
        ended = Verdict.UNDETERMINED, f"{_rare(seen, held, counting)}{end}; {wanted}"
    except Refused as refusal:
        ended = Verdict.INVALID, _refused(notebook, space, refusal)
    unit = choose(notebook, space, params)
    verdict, reason = ended or (None, "")
    bad, good = (
        notebook.tally(space.suspect, unit, Phase.REPRODUCE),
        notebook.tally(space.baseline, unit, Phase.CONTROL),
    )
    return Reproduction(verdict, reason, unit, bad, good)


def excluded(found: Tally, params: Parameters) -> bool:
    """Whether so few are corrupt that the rate is below ``p_min``; wrong in ``alpha`` of cases.

    One corrupt unit of an exact checker is corruption, however rare, so clean units alone exclude
    it. Where the checker may err each count has a look of its own, and the looks share alpha.
    """
    if found.corrupt and params.exact:
        return False
    return upper_bound(found.corrupt, found.units, _error(found.corrupt, params)) <= params.p_min


def _error(corrupt: int, params: Parameters) -> float:
    """Of the look at so many corrupt units; the inverse squares sum to alpha."""
    return params.alpha if params.exact else params.alpha * 6 / (pi * (corrupt + 1)) ** 2


def _clean_units(params: Parameters) -> int:
    """Clean units that exclude ``p_min``."""
    return ceil(log(_error(0, params)) / log(1 - params.p_min))


def _suspect(notebook: Notebook, config: Config, params: Parameters, unit: Unit) -> Ended | None:
    """Every toggle bad, never more trials at once than are surely needed."""
    while True:
        seen = notebook.trials(config, Phase.REPRODUCE)
        found = tally(seen, unit)
        ended = _stuck(seen, params, found)
        if ended or found.corrupt >= params.enough:
            return ended or _unexercised(notebook, config, seen, "bad")
        if excluded(found, params):
            return _clean(notebook, config, seen, params)
        wanted = params.enough - found.corrupt
        if not found.corrupt:
            wanted = min(wanted, max(1, _clean_units(params) - found.units))
        notebook.ask(Phase.REPRODUCE, config, notebook.trials_for(wanted, unit))


def _control(notebook: Notebook, space: Space, params: Parameters, unit: Unit) -> Ended | None:
    """Every toggle good, for as many units; an exact checker needs one corrupt session."""
    config, goal = space.baseline, notebook.tally(space.suspect, unit, Phase.REPRODUCE).units
    while True:
        seen = notebook.trials(config, Phase.CONTROL)
        found = tally(seen, unit)
        if (params.exact and found.corrupt) or found.units >= goal:
            break
        if not found.units and len(seen) >= 2 * params.enough:
            return Verdict.INVALID, f"every toggle good: {_uncounted(seen)}"
        wanted = min(params.batch, goal - found.units)
        notebook.ask(Phase.CONTROL, config, notebook.trials_for(wanted, unit))
    least = lower_bound(found.corrupt, found.units, params.alpha)
    if least > params.p_tol or (params.exact and found.corrupt):
        return Verdict.NOT_CONTROLLED, (
            f"{_of(found, unit)} with every toggle good: no toggle on offer controls it"
        )
    return _unexercised(notebook, config, seen, "good")


def _stuck(seen: Sequence[Trial], params: Parameters, found: Tally) -> Ended | None:
    """Whether the target makes no progress, or shows nothing."""
    if found.corrupt:
        return None
    wedged = sum(trial.verdict == "wedged" for trial in seen)
    if wedged >= params.enough or (wedged and excluded(found, params)):
        return Verdict.LIVENESS, (
            f"{wedged} of {len(seen)} trials wedged with every toggle bad, and no reply is corrupt"
        )
    if not found.units and len(seen) >= 2 * params.enough:
        return Verdict.INVALID, f"every toggle bad: {_uncounted(seen)}"
    return None


def _clean(notebook: Notebook, config: Config, seen: Sequence[Trial], params: Parameters) -> Ended:
    """Not reproduced, with the rates that this excludes; invalid where a path was never taken."""
    invalid = _unexercised(notebook, config, seen, "bad")
    if invalid:
        return invalid
    bounds = [_bound(tally(seen, Unit.SESSION), Unit.SESSION, params.alpha)]
    if notebook.world.batch_sessions > 1:
        bounds[0] += " if the sessions of a boot are independent"
        bounds.append(_bound(tally(seen, Unit.BOOT), Unit.BOOT, params.alpha))
    return Verdict.NOT_REPRODUCED, f"with every toggle bad: {'; '.join(bounds)}"


def _unexercised(
    notebook: Notebook, config: Config, seen: Sequence[Trial], value: str
) -> Ended | None:
    why = notebook.world.unexercised(config, seen)
    return (Verdict.INVALID, f"every toggle {value}: {why}") if why else None


def _bound(found: Tally, unit: Unit, alpha: float) -> str:
    most = upper_bound(found.corrupt, found.units, alpha)
    return f"{_of(found, unit)}, so fewer than {100 * most:.2g} % are (at {100 * (1 - alpha):g} %)"


def _of(found: Tally, unit: Unit) -> str:
    return f"{found.corrupt} of {found.units} {unit.value}s corrupt"


def _uncounted(seen: Sequence[Trial]) -> str:
    """Why trials are not counted: the reason given most often, the first of equals."""
    reasons = [trial.unknown or "no session was owed a reply" for trial in seen]
    return f"none of {len(seen)} trials shows anything ({max(reasons, key=reasons.count)})"


def _rare(found: Tally, params: Parameters, unit: Unit) -> str:
    """That it was reproduced, though too seldom to go on; empty where it was not."""
    if not params.exact or not 0 < found.corrupt < params.enough:
        return ""
    said = f"reproduced: {_of(found, unit)} with every toggle bad"
    if upper_bound(found.corrupt, found.units, params.alpha) <= params.p_min:
        said += f", rarer than {100 * params.p_min:.2g} % (at {100 * (1 - params.alpha):g} %)"
    return said + "; "


def _wanted(params: Parameters, unit: Unit, batch_sessions: int) -> str:
    clean = _clean_units(params) * (batch_sessions if unit is Unit.BOOT else 1)
    return (
        f"{clean} sessions, all clean, or {params.enough} corrupt {unit.value}s and as many units"
        " with every toggle good, are needed before anything can be said"
    )


def _refused(notebook: Notebook, space: Space, refusal: Refused) -> str:
    value = "bad" if space.suspect in notebook.refused else "good"
    return f"every toggle {value}: the target cannot run it ({refusal})"
