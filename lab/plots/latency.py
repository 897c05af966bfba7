"""How long replies and rooms took in disaggregated arms, with the configured timeouts marked.

A floor at a timeout shows what an average hides: who waited was not slow, but given up on. Rooms
count from WaitingForInput on the decode side to their end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from lab.plots import FIGURES
from lab.plots.style import INK, LOOKS, new_figure, only_grid, title, wrapped
from lab.rooms import SUCCESS, disaggregated, latency_s

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lab.records import ArmHistory, Finding, RunVerdict

BINS = 36
LOG_FROM = 20.0  # longest over shortest time: from here on a linear axis hides the short ones
BEFORE = 1 - 1e-6  # a bar ends so much before a mark: clocks round
LEFT = 0.35  # of a panel's width: from a line in there its label runs to the right
DASHES = {"waiting_timeout": "--", "bootstrap_timeout": ":", "client timeout": "-."}
WELL, ILL = LOOKS["clean"].colour, LOOKS["corrupt"].colour
LEGEND = {"answered, succeeded": (WELL, ""), "without an answer, failed": (ILL, "////")}


@dataclass(frozen=True)
class Times:
    """Seconds of one panel: of what ended well, of what did not, and how many never began."""

    what: str
    well: list[float]
    ill: list[float]
    unborn: int = 0

    def told(self) -> str:
        """``replies: 238 answered, median 1.2 s, 2 without an answer``."""
        good, bad = ("succeeded", "failed") if self.what == "rooms" else ("answered", "not")
        middle = f", median {np.median(self.well):.3g} s" if self.well else ""
        unborn = f", {self.unborn} ended before" if self.unborn else ""
        return f"{self.what}: {len(self.well)} {good}{middle}; {len(self.ill)} {bad}{unborn}"


@FIGURES.register("latency")
def draw(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> Figure | None:
    """One row an arm: replies left, rooms right, all on one axis; nothing without such an arm."""
    arms = [arm for arm in histories if disaggregated(arm)]
    drawn = [(arm, times) for arm in arms for times in (replies(arm), rooms(arm))]
    edges = bins([s for _, it in drawn for s in (*it.well, *it.ill)], marked(arms))
    if edges is None:
        return None
    figure = new_figure(9.6, 1.3 + 2.3 * len(arms))
    panels = figure.subplots(len(arms), 2, sharex=True, squeeze=False)
    for axes, (arm, times) in zip(panels.flatten(), drawn, strict=True):
        draw_times(axes, times, edges, marks(arm))
    for axes, arm in zip(panels[:, 0], arms, strict=True):
        axes.set_ylabel(f"{wrapped(arm.name, 22)}\n\ncount")
    figure.supxlabel(
        "seconds of the arm's clock: replies from sending to their end, rooms from "
        "WaitingForInput to their end",
        fontsize=9,
    )
    handles = [
        Patch(facecolor=c, hatch=h, edgecolor="white", label=n) for n, (c, h) in LEGEND.items()
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=2, fontsize=8, frameon=False)
    title(figure, f"Latency: {verdict.scenario}, seed {verdict.seed}")
    return figure


def replies(arm: ArmHistory) -> Times:
    """From sending to the end, whatever the end was."""
    sent = [
        (it.status == "ok", it.done_s - it.sent_s) for it in arm.replies if it.done_s is not None
    ]
    unborn = sum(it.due and it.status == "not_sent" for it in arm.replies)
    return Times("replies", [s for ok, s in sent if ok], [s for ok, s in sent if not ok], unborn)


def rooms(arm: ArmHistory) -> Times:
    """From WaitingForInput to the end; a room that failed before that never began."""
    well: list[float] = []
    ill: list[float] = []
    unborn = 0
    for record in arm.rooms:
        took = latency_s(record)
        if took is None:
            unborn += 1
        else:
            (well if record.outcome == SUCCESS else ill).append(took)
    return Times("rooms", well, ill, unborn)


def marks(arm: ArmHistory) -> dict[str, float]:
    """The configured timeouts, by name, as far as the arm has them."""
    known = {
        "waiting_timeout": arm.settings.get("waiting_timeout"),
        "bootstrap_timeout": arm.settings.get("bootstrap_timeout"),
        "client timeout": arm.timeout_s,
    }
    return {name: float(value) for name, value in known.items() if value}


def marked(arms: Sequence[ArmHistory]) -> list[float]:
    """Every timeout of every arm."""
    return [at for arm in arms for at in marks(arm).values()]


def bins(times: Sequence[float], marks: Sequence[float]) -> NDArray[np.float64] | None:
    """Edges of the bars over ``times`` and ``marks``: by ratio where they span many, else even.

    A bar ends at every mark, so that what waited for it stands behind its line.
    """
    found = [s for s in (*times, *marks) if s > 0]
    if not any(s > 0 for s in times):
        return None
    low, high = min(found), max(found)
    if high / low >= LOG_FROM:
        edges = np.geomspace(low / 1.05, high * 1.3, BINS + 1)
    else:
        edges = np.linspace(0, high * 1.1, BINS + 1)
    near = [1 + int(np.abs(edges[1:-1] - mark).argmin()) for mark in marks]
    return np.union1d(np.delete(edges, near), np.array(marks) * BEFORE)


def draw_times(
    axes: Axes, times: Times, edges: NDArray[np.float64], lines: Mapping[str, float]
) -> None:
    """Stacked bars, what ended ill on top, and the timeouts as lines with their names above."""
    if edges[0] > 0:
        axes.set_xscale("log")
    inside = [np.clip(seconds, edges[0], edges[-1]) for seconds in (times.well, times.ill)]
    well, ill = (np.histogram(seconds, edges)[0] for seconds in inside)
    place: dict[str, Any] = {"x": edges[:-1], "width": np.diff(edges), "align": "edge"}
    axes.bar(height=well, color=WELL, **place)
    axes.bar(height=ill, bottom=well, color=ILL, hatch="////", edgecolor="white", **place)
    axes.set_xlim(edges[0], edges[-1])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.tick_params(labelbottom=True)
    only_grid(axes, "y")
    named = by_value(lines)
    for level, (at, names) in enumerate(sorted(named.items())):
        draw_mark(axes, at, names, level)
    axes.set_title(times.told(), pad=5 + 10 * len(named))


def by_value(lines: Mapping[str, float]) -> dict[float, list[str]]:
    """Timeouts of the same length share a line."""
    found: dict[float, list[str]] = {}
    for name, at in lines.items():
        found.setdefault(at, []).append(name)
    return found


def draw_mark(axes: Axes, at: float, names: Sequence[str], level: int) -> None:
    """A line at ``at`` seconds, up to its label, which stands above the panel on its ``level``."""
    place, above = axes.get_xaxis_transform(), 3 + 9 * level
    left = axes.transAxes.inverted().transform(place.transform((at, 1.0)))[0] < LEFT
    axes.axvline(at, color=INK, linestyle=DASHES[names[0]], linewidth=1.1)
    stem = {"arrowstyle": "-", "linewidth": 0.7, "color": INK, "shrinkA": 0, "shrinkB": 0}
    points: dict[str, Any] = {"xycoords": place, "textcoords": "offset points", "fontsize": 7}
    axes.annotate("", (at, 1.0), xytext=(0, above + 6), arrowprops=stem, **points)
    said = f"{' = '.join(names)} {at:g} s"
    side = (3, "left") if left else (-3, "right")
    axes.annotate(said, (at, 1.0), xytext=(side[0], above), ha=side[1], **points)
