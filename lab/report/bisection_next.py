"""What to do after a verdict. One rule: what can be typed is spelt as it is typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.report.bisection_words import said

Document = Mapping[str, Any]


def what_next(told: Document) -> list[str]:
    """A sentence a step, the first one first."""
    return [*replay_step(told), *STEPS[told["verdict"]](told)]


def replay_step(told: Document) -> list[str]:
    """How to see it fail, where a failing trial was left."""
    made = told.get("replay")
    if not made:
        return []
    sessions = f"{len(made['sessions'])} of {made['sessions_planned']} sessions"
    return [
        f"see it fail: `kvlab run {made['scenario']}` repeats one trial, {sessions}; "
        f"`kvlab show {made['run']}{_where(told)}` shows what it replied"
    ]


def _where(told: Document) -> str:
    """What a command that is offered needs besides, to find the database."""
    return f" {told['where']}" if told.get("where") else ""


def _confirmed(told: Document) -> list[str]:
    needed = [it for it in told["culprits"] if told["roles"].get(it["toggle"]) == "NECESSARY"]
    cures = [f"{it['toggle']}={said(it['good'])}" for it in needed]
    each = {0: "", 1: "", 2: "; either"}.get(len(cures), "; any one of them")
    cure = f"until it is fixed: {' or '.join(cures)}{each} ends it in what was run"
    return [
        *([cure] if cures else []),
        f"once it is fixed: `kvlab bisect {told['scenario']}` again finds another cause, if any",
    ]


def _suspect(told: Document) -> list[str]:
    more = f"a --budget above {told['budget']}"
    return [f"confirm it on fresh seeds: the same command without --no-confirm, or with {more}"]


def _undetermined(told: Document) -> list[str]:
    more = f"`kvlab bisect --resume {told['bisection']} --budget N{_where(told)}`"
    return [
        f"give it more: {more} goes on, with N above {told['budget']} sessions",
        "or raise the rate, which costs less: a heavier load, smaller pools",
    ]


def _not_reproduced(told: Document) -> list[str]:
    rate = 100 * told["parameters"]["p_min"]
    return [
        "compare what was reached above with what the report of the failure had on",
        f"raise the load, or seek rates below {rate:.3g} % with `bisect.p_min` and more budget",
    ]


def _not_controlled(told: Document) -> list[str]:
    return [
        "look in what all these configurations share: the build, the weights, the load",
        "or offer more toggles: a setting that is in `toggles` is the only kind that is found",
    ]


def _invalid(told: Document) -> list[str]:
    return ["change the load or the settings until every path named above is taken; then again"]


def _liveness(told: Document) -> list[str]:
    return [f"`kvlab bisect {told['scenario']} --outcome wedged` finds the toggles it takes"]


STEPS = {
    "CONFIRMED": _confirmed,
    "SUSPECT": _suspect,
    "UNDETERMINED": _undetermined,
    "NOT-REPRODUCED": _not_reproduced,
    "NOT-CONTROLLED": _not_controlled,
    "INVALID": _invalid,
    "LIVENESS": _liveness,
}
