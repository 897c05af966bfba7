"""Session corruption rate of each arm with its Wilson interval: the A/B question as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lab.plots import FIGURES
from lab.plots.style import LOOKS, OTHER, new_figure, only_grid, title, wrapped
from lab.report import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lab.records import ArmHistory, ArmVerdict, Finding, RunVerdict

SHORT, LONG = 26, 44  # letters of a line of an arm's name: two lines, or three, stand in its row


@FIGURES.register("rates")
def draw(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> Figure | None:
    """One row an arm, the first on top; n and the numbers stand beside the marks."""
    if not verdict.arms:
        return None
    longest = max(len(arm.name) for arm in verdict.arms)
    width = SHORT if longest <= 2 * SHORT else LONG
    figure = new_figure(8.0 + 0.06 * (width - SHORT), 1.5 + 0.46 * len(verdict.arms))
    axes = figure.add_subplot()
    for row, arm in enumerate(verdict.arms):
        draw_arm(axes, row, arm, words.p_against_first(verdict, arm))
    axes.set_yticks(range(len(verdict.arms)), [wrapped(arm.name, width) for arm in verdict.arms])
    axes.set_ylim(len(verdict.arms) - 0.4, -0.6)
    right = min(100.0, 106 * max(arm.ci95[1] for arm in verdict.arms))
    axes.set_xlim(-right / 50, right)  # room for a mark at zero beside the names
    axes.set_xlabel("corrupt sessions (%); the line is the Wilson 95 % interval")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    only_grid(axes, "x")
    title(figure, f"Corrupt sessions by arm: {verdict.scenario}, seed {verdict.seed}")
    axes.set_title("p: Fisher's exact test against the first arm, each test alone", fontsize=8)
    return figure


def draw_arm(axes: Axes, row: int, arm: ArmVerdict, p: float | None) -> None:
    """The interval as a line, the rate as a mark, the figures as text at the right."""
    look = LOOKS.get(arm.verdict, OTHER)
    low, high = (100 * end for end in arm.ci95)
    axes.plot([low, high], [row, row], color=look.colour, linewidth=2.2, solid_capstyle="butt")
    axes.plot(
        100 * arm.rate, row, look.marker, color=look.colour, markersize=7, clip_on=False, zorder=3
    )
    said = f"{words.of(arm)}: {words.number(arm.rate)} % [{words.interval(arm.ci95)}]"
    test = "" if p is None else f", {words.p_is(p)}"
    axes.annotate(
        f"{said}\n{arm.verdict}{test}",
        (1.02, row),
        xycoords=axes.get_yaxis_transform(),
        va="center",
        fontsize=8,
    )
