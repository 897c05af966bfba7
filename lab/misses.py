"""What a model missed whose right texts nobody knows: its own weakness, or the load's doing.

One rule: the model's own is what it misses one at a time. Its control is an arm of the same run
that is equal but for concurrency, at concurrency 1; else the first arm at concurrency 1. An arm at
concurrency 1 is held against another such arm, and is the reference where there is none.

An arm is corrupt by its misses where they are more than the control's: Fisher's one-sided p below
``LEVEL``, which the compared arms share, and a share of sessions above the interval of the
control's. It is clean where the control misses, too, and p says nothing; then its reason has both
counts. Whatever lies between, misses without a control, and misses in most sessions that are no
more than the control's, are not known to be either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.looked import by_detector, sessions
from lab.report.words import p_is
from lab.stats import fisher_more, wilson

if TYPE_CHECKING:
    from lab.looked import Looked

LEVEL = 0.01
UNCLEAR = 0.2  # below it, more than the control's, and too few sessions to tell
MOST = 0.5  # share of sessions: who misses in more of them shows little by missing
ALONE = 1
NONE = "no control at concurrency 1 to compare with"
TOO_MUCH = ": this load asks too much of the model to tell"
ITS_OWN = "taken for what the model misses by itself, one at a time"


@dataclass(frozen=True)
class Missed:
    """Sessions with a miss among those that show anything, and what that is held to be."""

    arm: str
    missed: int
    sessions: int
    verdict: str = "clean"  # or corrupt, or inconclusive
    reason: str = ""
    control: str = ""  # the arm that it is held against

    @property
    def said(self) -> str:
        """``3 of 60``."""
        return f"{self.missed} of {self.sessions}"


def misses(arms: Sequence[Looked]) -> list[Missed]:
    """What each arm missed, held against its control."""
    counts = [counted(arm) for arm in arms]
    controls = [control_of([arm.history.settings for arm in arms], at) for at in range(len(arms))]
    compared = sum(
        at is not None and at != place and bool(counts[place].missed)
        for place, at in enumerate(controls)
    )
    return [
        _held(own, None if at is None else counts[at], max(compared, 1))
        for own, at in zip(counts, controls, strict=True)
    ]


def counted(arm: Looked) -> Missed:
    """An arm's misses, held against nothing."""
    return Missed(arm.history.name, len(sessions(arm.missed)), len(arm.judged))


def control_of(settings: Sequence[Mapping[str, Any]], at: int) -> int | None:
    """The place of the arm that the one ``at`` is held against: its own where it is alone."""
    alone = [place for place, one in enumerate(settings) if one.get("concurrency") == ALONE]
    if at in alone:
        return next((place for place in alone if settings[place] != settings[at]), at)
    equal = [place for place in alone if _but_for_load(settings[place], settings[at])]
    return next(iter([*equal, *alone]), None)


def as_alone(arm: Looked, arms: Sequence[Looked]) -> str:
    """What speaks for the model, its parser or its template where an arm of unknown texts is
    corrupt: that its control has replies of the same classes; else empty.
    """
    classes = [name for name in by_detector(arm.corrupt) if name != "foreign_secret"]
    if arm.texts_known or not classes:
        return ""
    places = [it.history.name for it in arms]
    at = control_of([it.history.settings for it in arms], places.index(arm.history.name))
    other = arms[at] if at is not None else arm
    if other is arm:
        return "" if at is not None else f"{NONE}: the model or its parser may do so by itself"
    shared = [name for name in classes if name in by_detector(other.corrupt)]
    seen = f"{len(sessions(other.corrupt))} of {len(other.judged)}"
    said = f"the control at concurrency 1, {other.history.name!r}, has {', '.join(shared)} too"
    return f"{said} ({seen} sessions): no fault of load alone" if shared else ""


def _but_for_load(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    said = [json.dumps({**one, "concurrency": ALONE}, sort_keys=True) for one in (a, b)]
    return said[0] == said[1]


def _held(own: Missed, control: Missed | None, compared: int) -> Missed:
    if not own.missed:
        return own
    told, most = f"{own.said} sessions missed a call", own.missed > MOST * own.sessions
    alone = f"{told}: {ITS_OWN}"
    if control is None or not control.sessions:
        return _as(own, "inconclusive", f"{told}; {NONE}")
    if control.arm == own.arm:
        return _as(own, "inconclusive", f"{told}{TOO_MUCH}") if most else _as(own, "clean", alone)
    p = fisher_more(own.missed, own.sessions, control.missed, control.sessions)
    beyond = own.missed / own.sessions > wilson(control.missed, control.sessions)[1]
    beside = f"the control at concurrency 1, {control.arm!r}, {control.said}"
    if p < LEVEL / compared and beyond:
        return _as(own, "corrupt", f"{told}, {beside} ({p_is(p)})", control.arm)
    if most:
        return _as(own, "inconclusive", f"{told}, {beside}{TOO_MUCH}", control.arm)
    if control.missed and p >= UNCLEAR:
        as_many = f"the control at concurrency 1 misses as many ({control.said}, {p_is(p)})"
        return _as(own, "clean", f"{told}; {as_many}", control.arm)
    unclear = f"{told}, {beside}: too few sessions to tell ({p_is(p)})"
    return _as(own, "inconclusive", unclear, control.arm)


def _as(own: Missed, verdict: str, reason: str, control: str = "") -> Missed:
    return Missed(own.arm, own.missed, own.sessions, verdict, reason, control)
