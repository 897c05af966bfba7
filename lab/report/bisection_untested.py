"""What a bisection does not show. One rule: what nobody flipped, or nothing reached, is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.bisect.roles import OPEN
from lab.report import words
from lab.report.bisection_words import unreached
from lab.stats import clopper_pearson
from lab.toggles import TOGGLES

Document = Mapping[str, Any]


def untested(told: Document) -> list[str]:
    """A sentence each."""
    excluded = [*_excluded(told), *too_few(told)]
    return [*_without_role(told), *excluded, *_unreached(told), *_never_flipped(told)]


def too_few(told: Document) -> list[str]:
    """What was seen too seldom to be excluded, of what else the search has to say."""
    return [line for line in told["others"] if line.startswith(OPEN)]


def _without_role(told: Document) -> list[str]:
    """Toggles of which nothing was concluded."""
    open_ends = [it["toggle"] for it in told["toggles"] if it["toggle"] not in told["roles"]]
    return [f"toggles without a role: {', '.join(open_ends)}"] if open_ends else []


def _excluded(told: Document) -> list[str]:
    """The rate that the clean side leaves possible."""
    corrupt, units = told["without_culprits"] if told["culprits"] else told["units_good"]
    if corrupt or not units:
        return []
    bound = words.percent(clopper_pearson(corrupt, units)[1])
    what = "without one of the culprits" if told["culprits"] else "with every toggle good"
    unit = told["unit"]
    return [f"a rate below {bound} {what} is not excluded: n = {units} {unit}s"]


def _unreached(told: Document) -> list[str]:
    """Copy paths and counters that stayed at zero with every culprit bad."""
    exposed = told["exposure"]["culprit"]
    zeros = [key for key, n in exposed.items() if not n]
    paths = unreached(told)
    return [
        *([paths] if paths else []),
        *([f"never happened with all culprits bad: {', '.join(zeros)}"] if zeros else []),
    ]


def _never_flipped(told: Document) -> list[str]:
    """The settings that the scenario does not offer, where the bundled engine was asked."""
    offered = [it["toggle"] for it in told["toggles"]]
    others = [key for key in TOGGLES.all() if key not in offered]
    if not told["exposure"]["culprit"]:
        return []
    return [f"not offered as toggles, so never flipped: {', '.join(others)}"] if others else []
