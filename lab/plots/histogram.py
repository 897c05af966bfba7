"""Bars over seconds with marked times among them: what waited for a mark stands behind its line.

One rule: nothing is left out: a time beyond the axis counts in its last bar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from lab.plots.style import INK, LOOKS, only_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

BINS = 36
LOG_FROM = 20.0  # longest over shortest time: from here on a linear axis hides the short ones
CROWDED = 1e4  # from here on only powers of ten have room on the axis
BEFORE = 1 - 1e-6  # a bar ends so much before a mark: clocks round
LEFT = 0.35  # of a panel's width: from a line in there its label runs to the right
WELL, ILL = LOOKS["clean"].colour, LOOKS["corrupt"].colour
HATCH = "////"
DASHES = ("--", ":", "-.")  # of the marks, in their order


def bins(times: Sequence[float], marks: Sequence[float]) -> NDArray[np.float64] | None:
    """Edges of the bars over ``times`` and ``marks``: by ratio where they span many, else even.

    A bar ends at every mark, so that what waited for it stands behind its line.
    """
    found = [s for s in (*times, *marks) if s > 0]
    if not any(s > 0 for s in times):
        return None
    low, high = min(found), max(found)
    if high / low >= LOG_FROM:
        bar = (high / low) ** (1 / BINS)
        edges = np.geomspace(low / bar**2, high * 1.3, BINS + 1)  # a whole bar before the first
    else:
        edges = np.linspace(0, high * 1.1, BINS + 1)
    near = [1 + int(np.abs(edges[1:-1] - mark).argmin()) for mark in marks]
    return np.union1d(np.delete(edges, near), [mark * BEFORE for mark in marks])


def draw_bars(
    axes: Axes, well: Sequence[float], ill: Sequence[float], edges: NDArray[np.float64]
) -> None:
    """Stacked bars over seconds, what ended ill on top."""
    inside = [np.clip(seconds, edges[0], edges[-1]) for seconds in (well, ill)]
    low, high = (np.histogram(seconds, edges)[0] for seconds in inside)
    place: dict[str, Any] = {"x": edges[:-1], "width": np.diff(edges), "align": "edge"}
    axes.bar(height=low, color=WELL, **place)
    if len(ill):  # bars of no height take as long to draw
        axes.bar(height=high, bottom=low, color=ILL, hatch=HATCH, edgecolor="white", **place)
    axes.set_xlim(edges[0], edges[-1])
    only_grid(axes, "y")
    draw_ticks(axes, edges)


def draw_ticks(axes: Axes, edges: NDArray[np.float64]) -> None:
    """Seconds spelled out below every panel, whole numbers beside it."""
    if edges[0] > 0:
        axes.set_xscale("log")
        subs = (1.0,) if edges[-1] / edges[0] > CROWDED else (1.0, 2.0, 5.0)
        axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=BINS))
    axes.xaxis.set_minor_locator(NullLocator())  # they took half of the time of drawing
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.tick_params(labelbottom=True)


def draw_marks(axes: Axes, lines: Mapping[str, float]) -> int:
    """A line for each time, with its name above the panel; returns how many there are."""
    dashes = dict(zip(lines, DASHES, strict=False))
    named = by_value(lines)
    for level, (at, names) in enumerate(sorted(named.items())):
        draw_mark(axes, at, names, level, dashes[names[0]])
    return len(named)


def by_value(lines: Mapping[str, float]) -> dict[float, list[str]]:
    """Marks of the same time share a line."""
    found: dict[float, list[str]] = {}
    for name, at in lines.items():
        found.setdefault(at, []).append(name)
    return found


def draw_mark(axes: Axes, at: float, names: Sequence[str], level: int, dash: str) -> None:
    """A line at ``at`` seconds, up to its label, which stands above the panel on its ``level``."""
    place, above = axes.get_xaxis_transform(), 3 + 9 * level
    left = axes.transAxes.inverted().transform(place.transform((at, 1.0)))[0] < LEFT
    axes.axvline(at, color=INK, linestyle=dash, linewidth=1.1)
    stem = {"arrowstyle": "-", "linewidth": 0.7, "color": INK, "shrinkA": 0, "shrinkB": 0}
    points: dict[str, Any] = {"xycoords": place, "textcoords": "offset points", "fontsize": 7}
    axes.annotate("", (at, 1.0), xytext=(0, above + 6), arrowprops=stem, **points)
    said = f"{' = '.join(names)} {at:g} s"
    side = (3, "left") if left else (-3, "right")
    axes.annotate(said, (at, 1.0), xytext=(side[0], above), ha=side[1], **points)
