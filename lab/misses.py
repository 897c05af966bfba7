"""What a model missed whose right texts nobody knows: its own weakness, or the server's doing.

One rule: only the load can be blamed by counts alone. The control of an arm (`pools`) has its flags
and is asked one at a time, so what it misses more than that is the load's doing. Another flag may
make a model weaker that serves nothing wrong (a quantised cache, say): a difference between flags
is told, and leaves the arm inconclusive.

Wrong sessions, missed or corrupt, of all repetitions are held against each other by Fisher's
one-sided test, with Holm's correction for the arms that are. An arm is

``corrupt``       where they are more than its control's: p below ``LEVEL``, and a rate above the
                  interval of the control's
``inconclusive``  where p is as small against any other arm; where it has no control of its own;
                  where most sessions miss; where ``MARGIN`` more than the control's, or of a
                  control's own rate, is not excluded
``clean``         elsewhere; then its reason has both counts

Repetitions of arms with equal flags are served by the same boots, so that these do not part them;
where they are not, boots are dealt, too, and the larger p counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.looked import by_detector, sessions
from lab.pools import Pool, control_of, pools, unlike, unlike_flags
from lab.report.words import p_is
from lab.stats import fisher, fisher_more, holm, newcombe, permuted_boots, wilson

if TYPE_CHECKING:
    from lab.looked import Looked

LEVEL = 0.01
MARGIN = 0.1
ONE_SIDED = 0.9  # confidence of an interval whose upper end is a bound of 95 %
MOST = 0.5  # share of sessions: who misses in more of them shows little by missing
UNEQUAL = 0.05  # p from which on two arms are not held to differ
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


@dataclass(frozen=True)
class _Against:
    """A pool, its control (itself where it is alone), the p of the two, corrected, and the nearest
    other pool that misses less than chance makes, with its p."""

    own: Pool
    control: Pool | None
    p: float
    tests: int
    other: tuple[Pool, float] | None
    unequal: Pool | None  # that is asked one at a time, with other flags


def misses(arms: Sequence[Looked]) -> list[Missed]:
    """What each arm missed, held against its control and the other arms."""
    found = [counted(arm) for arm in arms]
    for against in _against(pools(arms)):
        verdict, reason = _held(against)
        own, control = against.own, against.control
        named = control.name if control is not None and control is not own else ""
        for place in own.places:
            if found[place].missed:
                found[place] = replace(found[place], verdict=verdict, reason=reason, control=named)
    return found


def counted(arm: Looked) -> Missed:
    """An arm's misses, held against nothing."""
    return Missed(arm.history.name, len(arm.sessions_missed), len(arm.judged))


def as_alone(arm: Looked, arms: Sequence[Looked]) -> str:
    """What speaks for the model, its parser or its template where an arm of unknown texts is
    corrupt: that its control has as many replies of the same classes; else empty.
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
    if not shared:
        return ""
    own = (len(sessions(arm.corrupt)), len(arm.judged))
    theirs = (len(sessions(other.corrupt)), len(other.judged))
    p = fisher(*own, *theirs)
    said = f"the control at concurrency 1, {other.history.name!r}, has {', '.join(shared)} too"
    counts = f"{theirs[0]} of {theirs[1]} sessions, {p_is(p)}"
    return f"{said} ({counts}){': no fault of load alone' if p >= UNEQUAL else ', and fewer'}"


def _against(every: Sequence[Pool]) -> list[_Against]:
    """Each pool that missed anything, with all that it is held against."""
    settings = [pool.settings for pool in every]
    weak = [at for at, pool in enumerate(every) if pool.missed]
    controls = {at: control_of(settings, at) for at in weak}
    loaded = {at: of for at, of in controls.items() if of is not None and of != at}
    corrected = holm([_more(every[at], every[of]) for at, of in loaded.items()])
    by_control = dict(zip(loaded, corrected, strict=True))
    others = _others(every, weak)
    return [
        _Against(
            every[at],
            None if of is None else every[of],
            by_control.get(at, 1.0),
            len(loaded),
            others.get(at),
            next((it for it in every if it.alone and of is None), None),
        )
        for at, of in controls.items()
    ]


def _more(own: Pool, control: Pool) -> float:
    """P that the first is not the weaker one; by boots, too, where they share none."""
    p = fisher_more(own.wrong, own.sessions, control.wrong, control.sessions)
    apart = None not in own.boots | control.boots and not own.boots & control.boots
    if apart and len(own.counts) + len(control.counts) > 2:
        return max(p, permuted_boots(own.counts, control.counts))
    return p


def _others(every: Sequence[Pool], weak: Sequence[int]) -> dict[int, tuple[Pool, float]]:
    """For each of the ``weak`` the nearest pool that misses less than chance makes, and p."""
    pairs = [(at, of) for at in weak for of in range(len(every)) if of != at]
    p_values = [
        fisher_more(every[at].wrong, every[at].sessions, every[of].wrong, every[of].sessions)
        for at, of in pairs
    ]
    found: dict[int, list[tuple[Pool, float]]] = {}
    for (at, of), p in zip(pairs, holm(p_values), strict=True):
        if p < LEVEL:
            found.setdefault(at, []).append((every[of], p))
    return {at: min(those, key=lambda it: _distance(every[at], *it)) for at, those in found.items()}


def _distance(own: Pool, other: Pool, p: float) -> tuple[int, int, float]:
    pair = own.settings, other.settings
    return len(unlike_flags(*pair)), len(unlike(*pair)), p


def _held(it: _Against) -> tuple[str, str]:
    """What the misses of a pool are held to be, and why."""
    own, control = it.own, it.control
    told = f"{own.said} sessions missed a call"
    if len(own.counts) > 1:
        told = f"{told} in {len(own.counts)} repetitions"
    if control is not None and control is not own and control.sessions:
        beside = f"{told}, the control at concurrency 1, {control.name!r}, {control.said}"
        above = own.wrong / own.sessions > wilson(control.wrong, control.sessions)[1]
        if it.p < LEVEL and above:
            return "corrupt", f"{beside} ({_corrected(it)})"
    if it.other is not None:
        return "inconclusive", f"{told}, {_apart(own, control, *it.other)}"
    if control is None or not control.sessions:
        return "inconclusive", f"{told}; {_without(own, it.unequal)}"
    most = own.wrong > MOST * own.sessions
    if control is own:
        return _by_itself(own, told, most)
    return ("inconclusive", beside + TOO_MUCH) if most else _as_many(it, control, told, beside)


def _without(own: Pool, unequal: Pool | None) -> str:
    """That no control has the arm's flags; which there is, and in what it differs."""
    if unequal is None:
        return NONE
    keys = ", ".join(unlike_flags(own.settings, unequal.settings))
    other = f"{unequal.name!r}, {unequal.said}, differs in {keys}" if keys else unequal.name
    return f"no control with these flags at concurrency 1 to compare with ({other})"


def _by_itself(own: Pool, told: str, most: bool) -> tuple[str, str]:
    """An arm that is its own control: of a rate that may matter nobody knows whose it is."""
    if most:
        return "inconclusive", told + TOO_MUCH
    if wilson(own.wrong, own.sessions, ONE_SIDED)[1] < MARGIN:
        return "clean", f"{told}: {ITS_OWN}"
    same = "a fault at every load would look the same"
    return "inconclusive", f"{told}: {ITS_OWN}, but {same}"


def _as_many(it: _Against, control: Pool, told: str, beside: str) -> tuple[str, str]:
    """An arm that is not surely worse than its control: clean where it is surely not much worse."""
    own = it.own
    counts = own.wrong, own.sessions, control.wrong, control.sessions
    if (most := newcombe(*counts, ONE_SIDED)[1]) < MARGIN:
        as_many = f"the control at concurrency 1 misses as many ({control.said}, {_corrected(it)})"
        return "clean", f"{told}; {as_many}"
    least = bisect_left(
        range(own.sessions + 1), True, key=lambda k: _shows(k, own, control, it.tests)
    )
    shown = f"only {least} of {own.sessions} or more would show" if least <= own.sessions else ""
    bound = f"{100 * most:.0f} points more than the control's are not excluded"
    why = "; ".join(filter(None, (bound, shown)))
    return "inconclusive", f"{beside}: too few sessions to tell ({_corrected(it)}; {why})"


def _shows(k: int, own: Pool, control: Pool, tests: int) -> bool:
    """Whether so many wrong sessions would be corrupt, whatever the other arms have."""
    p = fisher_more(k, own.sessions, control.wrong, control.sessions)
    above = k / own.sessions > wilson(control.wrong, control.sessions)[1]
    return p < LEVEL / max(tests, 1) and above


def _corrected(it: _Against) -> str:
    return p_is(it.p) + (f", corrected for {it.tests} arms" if it.tests > 1 else "")


def _apart(own: Pool, control: Pool | None, other: Pool, p: float) -> str:
    """How another arm differs that misses less, and what would tell why."""
    keys = unlike(own.settings, other.settings)
    differs = f"which differs in {', '.join(keys)}" if keys else "which is equal in all settings"
    said = f"{other.said} in {other.name!r}, {differs} ({p_is(p)}): not chance"
    if control is None:
        return f"{said}; an arm with these flags at concurrency 1 tells what the load does"
    if unlike_flags(own.settings, other.settings):
        weaker = "corruption at every load, or a weaker model: texts at temperature 0 tell"
        return f"{said}; {weaker}" if control is own or control.wrong else said
    return said
