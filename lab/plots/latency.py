"""How long replies and rooms took in disaggregated arms, with the configured timeouts marked.

A floor at a timeout shows what an average hides: who waited was not slow, but given up on. Rooms
count from WaitingForInput on the decode side to their end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from lab.plots import FIGURES
from lab.plots.histogram import HATCH, ILL, WELL, bins, draw_bars, draw_marks
from lab.plots.style import new_figure, title, wrapped
from lab.rooms import SUCCESS, disaggregated, ends, firsts, latency_s
from lab.tries import failed_tries

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lab.records import ArmHistory, Finding, RunVerdict

MOST = 12  # arms in one figure
XLABEL = (
    "seconds of the arm's clock, to their end: replies from their first asking,\n"
    "tries that failed from their sending, rooms from WaitingForInput"
)
LEGEND = {"answered, succeeded": (WELL, ""), "without an answer, failed": (ILL, HATCH)}


@dataclass(frozen=True)
class Times:
    """Seconds of one panel: of what ended well, and of what did not.

    ``unborn`` failed before the time began that is drawn, and ``endless`` never ended: neither has
    a bar. ``tries`` are those that failed and were asked again, each from its own sending.
    """

    what: str
    well: list[float]
    ill: list[float]
    unborn: int = 0
    endless: int = 0
    tries: list[float] = field(default_factory=list)

    @property
    def failed(self) -> list[float]:
        """All that is drawn as a failure."""
        return [*self.ill, *self.tries]

    def told(self) -> str:
        """``replies: 238 answered, median 1.2 s``, and below it ``2 unanswered``."""
        rooms = self.what == "rooms"
        middle = f", median {np.median(self.well):.3g} s" if self.well else ""
        good = f"{self.what}: {len(self.well)} {'succeeded' if rooms else 'answered'}{middle}"
        early = f" ({self.unborn} before WaitingForInput)" if rooms and self.unborn else ""
        bad = f"{len(self.ill) + self.unborn} {'failed' if rooms else 'unanswered'}{early}"
        endless = f", {self.endless} {'without an end' if rooms else 'never asked'}"
        tries = f", {len(self.tries)} asked again"
        return f"{good}\n{bad}{endless * bool(self.endless)}{tries * bool(self.tries)}"


@FIGURES.register("latency")
def draw(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> Figure | None:
    """One row an arm: replies left, rooms right, all on one axis; nothing without such an arm."""
    every = [arm for arm in histories if disaggregated(arm.settings, arm.counters)]
    arms = worst(every)
    drawn = [(arm, times) for arm in arms for times in (replies(arm), rooms(arm))]
    limits = [at for arm in arms for at in timeouts(arm).values()]
    edges = bins([s for _, it in drawn for s in (*it.well, *it.failed)], limits)
    if edges is None:
        return None
    figure = new_figure(9.6, 1.3 + 2.1 * len(arms))
    panels = figure.subplots(len(arms), 2, sharex=True, squeeze=False)
    for axes, (arm, times) in zip(panels.flatten(), drawn, strict=True):
        draw_bars(axes, times.well, times.failed, edges)
        axes.set_title(times.told(), pad=5 + 10 * draw_marks(axes, timeouts(arm)))
    for axes, arm in zip(panels[:, 0], arms, strict=True):
        axes.set_ylabel(f"{wrapped(arm.name, 22)}\n\ncount")
    figure.supxlabel(XLABEL, fontsize=9)
    figure.legend(handles=legend(), loc="outside upper right", ncols=2, fontsize=8, frameon=False)
    some = f"\nthe {len(arms)} of {len(every)} arms with the most failures"
    which = f"{verdict.scenario}, seed {verdict.seed}{some if len(arms) < len(every) else ''}"
    title(figure, f"Latency: {which}")
    return figure


def legend() -> list[Patch]:
    """What the two kinds of bars are."""
    return [Patch(facecolor=c, hatch=h, edgecolor="white", label=n) for n, (c, h) in LEGEND.items()]


def worst(arms: Sequence[ArmHistory]) -> list[ArmHistory]:
    """At most ``MOST`` arms, those with the most failures, in their own order."""
    ill = {arm.name: len(replies(arm).failed) + len(rooms(arm).failed) for arm in arms}
    taken = sorted(ill, key=lambda name: -ill[name])[:MOST]
    return [arm for arm in arms if arm.name in taken]


def replies(arm: ArmHistory) -> Times:
    """From the first asking to the end, whatever the end was, and the tries that failed before."""
    asked = [
        (it.status == "ok", it.done_s - it.began_s) for it in arm.replies if it.done_s is not None
    ]
    never = sum(it.due and it.status == "not_sent" for it in arm.replies)
    lost = sum(it.status != "not_sent" and it.done_s is None for it in arm.replies)
    tries = [it.took_s for it in failed_tries(arm) if it.took_s is not None]
    well, ill = ([s for ok, s in asked if ok is wanted] for wanted in (True, False))
    return Times("replies", well, ill, lost, never, tries)


def rooms(arm: ArmHistory) -> Times:
    """From WaitingForInput to the end, each room once, whatever its ranks."""
    told = ends(arm.rooms)
    timed = [(it.outcome, took) for it in firsts(arm.rooms) if (took := latency_s(it)) is not None]
    well = [took for outcome, took in timed if outcome == SUCCESS]
    ill = [took for outcome, took in timed if outcome != SUCCESS]
    return Times("rooms", well, ill, told.failed - len(ill), told.without_end)


def timeouts(arm: ArmHistory) -> dict[str, float]:
    """The configured timeouts, by name, as far as the arm has them."""
    known = {
        "waiting_timeout": arm.settings.get("waiting_timeout"),
        "bootstrap_timeout": arm.settings.get("bootstrap_timeout"),
        "client timeout": arm.timeout_s,
    }
    return {name: float(value) for name, value in known.items() if value}
