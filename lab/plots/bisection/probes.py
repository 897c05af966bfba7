"""Every probe as a column: which toggles were bad in it, and what it showed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lab.bisect.trials import tally
from lab.plots.bisection import BISECTION_FIGURES
from lab.plots.style import INK, LOOKS, OTHER, PALE, new_figure, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lab.bisect.conclusion import Conclusion
    from lab.bisect.notebook import Probe
    from lab.bisect.space import Space
    from lab.bisect.trials import Tally

MOST = 120  # columns; a longer search shows its first and its last ones
NARROW, WIDE = 8.0, 20.0  # inches
COUNTED_UP_TO = 60  # columns under which each has its counts as text


@BISECTION_FIGURES.register("probes")
def draw(
    scenario: str, conclusion: Conclusion, probes: Sequence[Probe], space: Space
) -> Figure | None:
    """Toggles as rows, probes as columns; filled where the toggle was bad."""
    if not probes:
        return None
    shown = list(probes) if len(probes) <= MOST else [*probes[: MOST // 2], *probes[-MOST // 2 :]]
    figure = new_figure(
        min(WIDE, max(NARROW, 2.5 + 0.16 * len(shown))), 2.2 + 0.26 * len(space.toggles)
    )
    axes = figure.add_subplot()
    counts = [tally(probe.outcome, conclusion.unit) for probe in shown]
    for column, (probe, count) in enumerate(zip(shown, counts, strict=True)):
        draw_probe(axes, column, probe, count, space)
    _label(axes, space, conclusion)
    _counts(axes, counts, len(space.toggles))
    _phases(axes, shown)
    left_out = len(probes) - len(shown)
    more = f"; {left_out} in the middle are not shown" if left_out else ""
    title(figure, f"Probes of the bisection of {scenario}")
    said = f"{len(probes)} probes, {conclusion.spent} sessions; orange: corrupt, blue: clean, "
    axes.set_title(
        f"{said}grey: shows neither; filled: the toggle is bad{more}", fontsize=8, pad=18
    )
    return figure


def look_of(count: Tally) -> str:
    """The colour of a probe: by what it showed."""
    if not count.units:
        return OTHER.colour
    return LOOKS["corrupt" if count.corrupt else "clean"].colour


def draw_probe(axes: Axes, column: int, probe: Probe, count: Tally, space: Space) -> None:
    """One column: a filled square a toggle that is bad, a frame one that is good."""
    colour = look_of(count)
    levels = dict(probe.config.levels)
    for row, key in enumerate(space.toggles):
        bad = key in probe.config.bad or key in levels
        face = colour if bad else "none"
        axes.plot(
            column,
            row,
            "s",
            markersize=6,
            markerfacecolor=face,
            markeredgecolor=colour if bad else PALE,
            alpha=0.55 if key in levels else 1.0,
        )


def _label(axes: Axes, space: Space, conclusion: Conclusion) -> None:
    """The rows' names, with their roles where they have one."""
    roles = {key: role.value for key, role in conclusion.roles.items()}
    names = [f"{key}  {roles[key]}" if key in roles else key for key in space.toggles]
    axes.set_yticks(range(len(names)), names, fontsize=8)
    for label, key in zip(axes.get_yticklabels(), space.toggles, strict=True):
        label.set_fontweight("bold" if key in conclusion.culprits else "normal")
    axes.set_ylim(len(names) + 0.9, -0.8)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _counts(axes: Axes, counts: Sequence[Tally], row: int) -> None:
    """Corrupt over units under every column, while there is room for it."""
    if len(counts) > COUNTED_UP_TO:
        return
    for column, count in enumerate(counts):
        said = f"{count.corrupt}/{count.units}"
        axes.text(column, row + 0.1, said, rotation=90, ha="center", va="center", fontsize=6)


def _phases(axes: Axes, shown: Sequence[Probe]) -> None:
    """Where each phase begins, named above."""
    column = 0
    for phase, group in groupby(probe.phase.value for probe in shown):
        wide = len(list(group))
        if column:
            axes.axvline(column - 0.5, color=INK, linewidth=0.6)
        axes.text(
            column - 0.4, -1.0, phase, fontsize=7, va="bottom", rotation=25 if wide < 4 else 0
        )
        column += wide
