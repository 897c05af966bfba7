"""A bisection as the one JSON document of `--json`. One rule: the keys are public, and stay.

The document holds all that a report needs, and is what the database keeps as the verdict. A rate
stands with its units; toggles are written as the settings that differ from the all-good baseline.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from lab.bisect.contrast import contrasts, together
from lab.bisect.evidence import evidence
from lab.bisect.guarantees import guarantee
from lab.bisect.trials import Tally, sessions, tally
from lab.bisect.units import held_to
from lab.bisecting.space_of import space_of
from lab.stats import clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lab.bisect.conclusion import Arm, Bracket, Conclusion
    from lab.bisect.evidence import Evidence, Seen
    from lab.bisect.notebook import Notebook, Probe
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config
    from lab.bisect.trials import Unit
    from lab.scenario.models import Flip, Scenario


@dataclass(frozen=True)
class Bisected:
    """What a document is made of: the search's question, its probes and its answer."""

    id: str
    scenario: Scenario
    outcome: str
    params: Parameters
    notebook: Notebook
    conclusion: Conclusion
    where: str = ""  # what a command that is offered needs besides, to find the database


def document(done: Bisected) -> dict[str, Any]:
    """The whole verdict; shares and intervals between 0 and 1."""
    found, notebook, flips = done.conclusion, done.notebook, done.scenario.toggles
    seen = evidence(notebook.probes, found, tuple(flips))
    both = together(notebook.probes, found)
    held = held_to(done.params, found.unit, notebook.world.batch_sessions)
    return {
        "bisection": done.id,
        "scenario": done.scenario.name,
        "seed": done.scenario.seed,
        "method": found.method,
        "unit": found.unit.value,
        "outcome": done.outcome,
        "verdict": found.verdict.value,
        "reason": found.reason,
        "culprits": [flip(key, flips) for key in found.culprits],
        "roles": {key: found.roles[key].value for key in flips if key in found.roles},
        "sufficient": found.sufficient,
        "context": list(found.context),
        "posterior": found.posterior,
        "candidates": [list(some) for some in found.candidates],
        "others": list(found.others),
        **_rate("bad", found.bad),
        **_rate("good", found.good),
        "with_culprits": _pair(both.bad),
        "without_culprits": _pair(both.good),
        "sessions_spent": found.spent,
        "budget": notebook.budget,
        "wall_s": round(sum(trial.wall_s for trial in notebook.trials()), 3),
        "arms": [_arm(arm, flips) for arm in found.arms],
        "probes": [_probe(probe, flips, found.unit) for probe in notebook.probes],
        "threshold": _bracket(found.thresholds[0]) if found.thresholds else None,
        "thresholds": [_steps(bracket) for bracket in found.thresholds],
        "seen": {"culprit": _seen(seen.culprit), "cleared": _seen(seen.cleared)},
        "evidence": seen.culprit.violations,
        "evidence_cleared": seen.cleared.violations,
        **{key: _sides(seen, key) for key in ("faults", "exposure", "reach")},
        "guarantee": [*guarantee(found, held), *_of_servers(done)],
        "refused": [
            {"toggles": settings(config, flips), "reason": why}
            for config, why in notebook.refused.items()
        ],
        "beliefs": [
            {"sessions": one.spent, "sets": [[list(keys), p] for keys, p in one.sets]}
            for one in found.beliefs
        ],
        "toggles": _toggles(done),
        "parameters": asdict(done.params),
        "where": done.where.strip(),
    }


def _of_servers(done: Bisected) -> list[str]:
    """What else a promise rests on where the target is a server of its own."""
    if done.scenario.target.bundled:
        return []
    said = ["Trials went by the wall's clock: a seed gives the load again, not what came of it."]
    if done.scenario.target.profile is not None and done.scenario.bisect.boots == "shared":
        said.append(
            "Trials of one configuration shared a boot, and are taken to be independent"
            " all the same; `bisect.boots: fresh` gives each its own."
        )
    if not done.params.exact:
        said.append(
            "The right text of a reply is not known, so the checker is not taken to be exact."
        )
    return said


def flip(key: str, flips: Mapping[str, Flip]) -> dict[str, Any]:
    """A toggle with both of its values."""
    return {"toggle": key, "bad": flips[key].bad, "good": flips[key].good}


def _toggles(done: Bisected) -> list[dict[str, Any]]:
    """Every toggle on offer, with what was seen where it is bad and where it is good."""
    shown = contrasts(done.notebook.probes, done.conclusion, space_of(done.scenario))
    return [
        {
            **flip(key, done.scenario.toggles),
            "units_bad": _pair(found.bad),
            "units_good": _pair(found.good),
        }
        for key, found in shown.items()
    ]


def settings(config: Config, flips: Mapping[str, Flip]) -> dict[str, Any]:
    """What a configuration has other than the baseline; levels as they are."""
    levels = dict(config.levels)
    bad = {key: one.bad for key, one in flips.items() if key in config.bad}
    return {key: {**bad, **levels}[key] for key in flips if key in bad or key in levels}


def _pair(found: Tally) -> list[int]:
    """Corrupt units, and units."""
    return [found.corrupt, found.units]


def _seen(found: Seen) -> dict[str, int]:
    """What a side of the evidence was counted over."""
    return {"trials": found.trials, "sessions": found.sessions, "corrupt": found.corrupt}


def _sides(seen: Evidence, key: str) -> dict[str, dict[str, int]]:
    """What was counted under one name, on both sides of the evidence."""
    return {"culprit": getattr(seen.culprit, key), "cleared": getattr(seen.cleared, key)}


def _rate(side: str, found: Tally | None) -> dict[str, Any]:
    shown = found if found is not None and found.units else None
    return {
        f"rate_{side}": None if shown is None else round(shown.rate, 4),
        f"rate_{side}_ci95": None if shown is None else _interval(shown),
        f"units_{side}": [found.corrupt, found.units] if found is not None else [0, 0],
    }


def _arm(arm: Arm, flips: Mapping[str, Flip]) -> dict[str, Any]:
    e_value = arm.e_value
    return {
        "name": arm.name,
        "toggles": settings(arm.config, flips),
        **_counts(arm.tally),
        "upper": arm.upper,
        "lower": arm.lower,
        # JSON has no infinity: what is beyond every float is the largest one
        "e_value": e_value if e_value is None or isfinite(e_value) else 1.7e308,
    }


def _counts(found: Tally) -> dict[str, Any]:
    return {
        "units": found.units,
        "corrupt": found.corrupt,
        "rate": round(found.rate, 4),
        "ci95": _interval(found),
    }


def _interval(found: Tally) -> list[float]:
    return [round(end, 4) for end in clopper_pearson(found.corrupt, found.units)]


def _probe(probe: Probe, flips: Mapping[str, Flip], unit: Unit) -> dict[str, Any]:
    return {
        "toggles": settings(probe.config, flips),
        "sessions": sessions(probe.outcome),
        "corrupt": sum(trial.corrupt for trial in probe.outcome),
        "units": _pair(tally(probe.outcome, unit)),
        "phase": probe.phase.value,
        "trials": [trial.index for trial in probe.outcome],
        "unknown": _unknown(trial.unknown for trial in probe.outcome),
    }


def _unknown(reasons: Iterable[str]) -> list[str]:
    """Why trials of the probe show nothing, each reason once."""
    return list(dict.fromkeys(reason for reason in reasons if reason))


def _bracket(found: Bracket) -> dict[str, Any]:
    return {
        "toggle": found.toggle,
        "clean_below": found.clean_below,
        "bad_above": found.bad_above,
    }


def _steps(found: Bracket) -> dict[str, Any]:
    steps: Sequence[tuple[Any, Tally]] = found.steps
    return {
        **_bracket(found),
        "monotone": found.monotone,
        "posterior": found.posterior,
        "steps": [{"level": level, **_counts(tally)} for level, tally in steps],
    }
