"""The answer of a comparison, in one sentence.

One rule: a difference is named with its n, its interval and its corrected p, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.report.words import p_is

ALPHA = 0.05


def sentence(document: Mapping[str, Any]) -> str:
    """What a person wants to know first."""
    arms = document["arms"]
    if not arms:
        return "No arm of one run is in the other, by name or by settings: nothing to compare."
    apart = sorted((it for it in arms if it["p_holm"] < ALPHA), key=lambda it: it["p_holm"])
    turned = [it for it in arms if it["a"]["verdict"] != it["b"]["verdict"] and it not in apart]
    if document["same_history"] and not (apart or turned):
        return f"The runs are the same, event for event: {_arms(arms)} with equal digests."
    parts = [_apart(apart, len(arms))] if apart else [_alike(arms)]
    parts += [
        f'"{it["name"]}" was {it["a"]["verdict"]} and is {it["b"]["verdict"]}' for it in turned[:2]
    ]
    left = len(document["only_in_a"]) + len(document["only_in_b"])
    parts += [f"{left} {'arm is' if left == 1 else 'arms are'} in one run only"] if left else []
    return "; ".join(parts) + "."


def _apart(arms: Sequence[Mapping[str, Any]], of: int) -> str:
    it = arms[0]
    more = "more" if it["difference"] > 0 else "fewer"
    low, high = it["ci95"]
    corrected = f", corrected for {of} arms" if of > 1 else ""
    others = f", and {len(arms) - 1} more of {of} arms differ" if len(arms) > 1 else ""
    what = "corrupts or misses" if it["missed_too"] else "corrupts"
    return (
        f'B {what} {more} sessions than A in "{it["name"]}": {_of(it["a"])} before,'
        f" {_of(it['b'])} now ({100 * it['difference']:+.1f} points, 95 % {100 * low:+.1f} to"
        f" {100 * high:+.1f}; {p_is(it['p_holm'])}{corrected}){others}"
    )


def _alike(arms: Sequence[Mapping[str, Any]]) -> str:
    least = min(it["p_holm"] for it in arms)
    widest = max(max(abs(end) for end in it["ci95"]) for it in arms)
    corrected = f" corrected for {len(arms)} arms" if len(arms) > 1 else ""
    return (
        f"No difference in {_arms(arms)} that chance would not make (least {p_is(least)}"
        f"{corrected}); a difference of up to {100 * widest:.1f} points is not excluded"
    )


def _of(side: Mapping[str, Any]) -> str:
    return f"{side['sessions_corrupt'] + side['sessions_missed']} of {side['sessions']}"


def _arms(arms: Sequence[object]) -> str:
    return f"{len(arms)} {'arm' if len(arms) == 1 else 'arms'}"
