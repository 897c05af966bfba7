"""Session corruption rate over the levels of one knob, and the bracket in which it turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lab.plots import FIGURES
from lab.plots.style import LOOKS, OTHER, PALE, new_figure, title, wrapped
from lab.report import words
from lab.report.sweeps import bracket
from lab.sweeps import sweep_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lab.records import ArmHistory, ArmVerdict, Finding, RunVerdict
    from lab.sweeps import Sweep

WIDE = 100  # characters of the bracket's line
LOG_FROM = 8.0  # largest level over smallest: beyond it the levels stand on a logarithmic axis


@FIGURES.register("sweep")
def draw(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> Figure | None:
    """A mark a level with its Wilson interval and its n; None where the arms are no ladder."""
    sweep = sweep_of(verdict.arms)
    if sweep is None:
        return None
    figure = new_figure(8.0, 4.2)
    axes = figure.add_subplot()
    _scale(axes, sweep)
    if sweep.clean_below is not None and sweep.bad_above is not None:
        axes.axvspan(sweep.clean_below, sweep.bad_above, color=PALE, zorder=0)
    for level, arm in sweep.levels:
        draw_level(axes, level, arm)
    most = max(arm.ci95[1] for _, arm in sweep.levels)
    axes.set_ylim(-2 * most, 115 * most)  # room for the counts above, for a mark at zero below
    axes.set_ylabel("corrupt sessions (%), Wilson 95 %")
    axes.set_xlabel(sweep.toggle)
    axes.set_title(wrapped(bracket(sweep), WIDE), fontsize=8)
    title(figure, f"{sweep.toggle} of {verdict.scenario}, seed {verdict.seed}")
    return figure


def draw_level(axes: Axes, level: float, arm: ArmVerdict) -> None:
    """The interval as a line, the rate as a mark, corrupt of sessions above it."""
    look = LOOKS.get(arm.verdict, OTHER)
    low, high = (100 * end for end in arm.ci95)
    axes.plot([level, level], [low, high], color=look.colour, linewidth=2.2)
    axes.plot(level, 100 * arm.rate, look.marker, color=look.colour, markersize=7, zorder=3)
    axes.annotate(
        words.of(arm),
        (level, high),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        fontsize=8,
        color=look.colour,
    )


def _scale(axes: Axes, sweep: Sweep) -> None:
    """Every level is a tick, on a logarithmic axis where the ladder is long and above zero."""
    levels = [level for level, _ in sweep.levels]
    if levels[0] > 0 and levels[-1] / levels[0] >= LOG_FROM:
        axes.set_xscale("log")
    axes.set_xticks(levels, [f"{level:g}" for level in levels])
    axes.minorticks_off()
    axes.margins(x=0.06)
