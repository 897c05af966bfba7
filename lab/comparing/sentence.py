"""The answer of a comparison, in one sentence.

One rule: a difference is named with its n, its interval, its corrected p and how these were found,
or not at all. Both must show it, and what neither shows nor excludes is not decided: "no
difference" is said only of intervals that hold zero and reach no further than ``WIDE``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.report.words import p_is

ALPHA = 0.05
WIDE = 0.1  # of a rate: an interval that reaches further leaves more open than it shows
Arm = Mapping[str, Any]


def sentence(document: Mapping[str, Any]) -> str:
    """What a person wants to know first."""
    arms = document["arms"]
    if not arms:
        return "No arm of one run is in the other, by name or by settings: nothing to compare."
    known = [arm for arm in arms if arm["test"] is not None]
    apart = sorted(filter(differs, known), key=lambda it: it["p_holm"])
    turned = [it for it in arms if it["a"]["verdict"] != it["b"]["verdict"] and it not in apart]
    if document["same_history"] and not (apart or turned):
        return f"The runs are the same, event for event: {_arms(arms)} with equal digests."
    parts = [*_found(known, apart), *silent(arms)]
    parts += [
        f'"{it["name"]}" was {it["a"]["verdict"]} and is {it["b"]["verdict"]}' for it in turned[:2]
    ]
    left = len(document["only_in_a"]) + len(document["only_in_b"])
    parts += [f"{left} {'arm is' if left == 1 else 'arms are'} in one run only"] if left else []
    told = "; ".join(parts) + "."
    return told[0].upper() + told[1:]


def differs(arm: Arm) -> bool:
    """Whether p and the interval both show a difference."""
    return bool(arm["p_holm"] < ALPHA) and not _holds_zero(arm)


def undecided(arm: Arm) -> bool:
    """Whether they are at odds, or the interval holds zero and much besides; never of one history,
    event for event.
    """
    if arm["same_history"]:
        return False
    if arm["p_holm"] < ALPHA or not _holds_zero(arm):
        return not differs(arm)
    return _reach(arm) > WIDE


def silent(arms: Sequence[Arm]) -> list[str]:
    """What is said of arms of which nothing was tested."""
    empty = [arm for arm in arms if arm["test"] is None]
    named = [f'no session of {_empty(arm)} shows anything in "{arm["name"]}"' for arm in empty[:2]]
    more = len(empty) - len(named)
    return [*named, f"nor in {more} more {'arm' if more == 1 else 'arms'}"] if more else named


def alone(arm: Arm) -> str:
    """Sessions without a partner, as a clause; empty where there are none."""
    sides = zip(("A", "B"), arm["unpaired"] or (0, 0), strict=True)
    told = [f"{n} {'session' if n == 1 else 'sessions'} of {side}" for side, n in sides if n]
    if not told:
        return ""
    one = sum(arm["unpaired"]) == 1
    return f"{' and '.join(told)} {'has' if one else 'have'} no partner: two samples"


def _found(known: Sequence[Arm], apart: Sequence[Arm]) -> list[str]:
    """What differs, or what is not decided, or that nothing does; nothing of no test."""
    unsure = sorted(
        filter(undecided, known), key=lambda it: (_holds_zero(it), it["p_holm"], -_reach(it))
    )
    if apart:
        rest = [f"{_arms(unsure)} not decided"] if unsure else []
        return [_apart(apart, len(known)), *rest]
    if unsure:
        return [_unsure(unsure, len(known))]
    return [_alike(known)] if known else []


def _apart(arms: Sequence[Arm], of: int) -> str:
    it = arms[0]
    more = "more" if it["difference"] > 0 else "fewer"
    others = f", and {len(arms) - 1} more of {of} arms differ" if len(arms) > 1 else ""
    return f'B {_what(it)} {more} sessions than A in "{it["name"]}": {_numbers(it, of)}{others}'


def _unsure(arms: Sequence[Arm], of: int) -> str:
    it = arms[0]
    others = f", nor in {len(arms) - 1} more of {of} arms" if len(arms) > 1 else ""
    return (
        f"not decided whether B {_what(it)} more or fewer sessions than A in"
        f' "{it["name"]}": {_numbers(it, of)}{others}'
    )


def _alike(arms: Sequence[Arm]) -> str:
    it = min(arms, key=lambda it: it["p_holm"])
    widest = max(map(_reach, arms))
    many = len(arms)
    holm, least = (f", Holm over {many} arms", "least ") if many > 1 else ("", "")
    at_once = f", {many} arms at once" if many > 1 else ""
    return (
        f"no difference in {_arms(arms)} that chance would not make ({least}{p_is(it['p_holm'])},"
        f" {it['test']}{holm}); one of up to {100 * widest:.1f} points is not excluded (95 %"
        f" {method(it)}{at_once})"
    )


def method(arm: Arm) -> str:
    """How the interval was found."""
    return "Newcombe, paired" if arm["pairs"] is not None else "Newcombe"


def _numbers(it: Arm, of: int) -> str:
    low, high = it["ci95"]
    at_once, holm = (f", {of} arms at once", f", Holm over {of} arms") if of > 1 else ("", "")
    lonely = f"; {alone(it)}" if alone(it) else ""
    return (
        f"{_of(it['a'])} before, {_of(it['b'])} now ({100 * it['difference']:+.1f} points, 95 %"
        f" {100 * low:+.1f} to {100 * high:+.1f}, {method(it)}{at_once}; {p_is(it['p_holm'])},"
        f" {it['test']}{holm}{lonely})"
    )


def _what(it: Arm) -> str:
    return "corrupts or misses" if it["missed_too"] else "corrupts"


def _holds_zero(arm: Arm) -> bool:
    low, high = arm["ci95"]
    return bool(low <= 0 <= high)


def _reach(arm: Arm) -> float:
    return float(max(map(abs, arm["ci95"])))


def _empty(arm: Arm) -> str:
    return " and of ".join(side.upper() for side in ("a", "b") if not arm[side]["sessions"])


def _of(side: Arm) -> str:
    return f"{side['sessions_corrupt'] + side['sessions_missed']} of {side['sessions']}"


def _arms(arms: Sequence[object]) -> str:
    return f"{len(arms)} {'arm' if len(arms) == 1 else 'arms'}"
