"""Corrupt replies by output length, batch size and cache tier: a rate that one of them moves.

Field reports have 0 of 19 short replies wrong and 6 of 11 long ones (sglang#33397).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lab.plots import FIGURES
from lab.plots.style import LOOKS, OTHER, new_figure, only_grid, title, wrapped
from lab.report.slices import DIMENSIONS, slices
from lab.stats import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lab.plots.style import Look
    from lab.records import ArmHistory, Finding, RunVerdict
    from lab.report.slices import Slice

MOST = 4  # arms in one figure


@FIGURES.register("slices")
def draw(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> Figure | None:
    """A row an arm with a corrupt reply, the worst first, a panel a dimension; None without any."""
    worst = sorted(verdict.arms, key=lambda arm: -arm.replies_corrupt)
    arms = [arm for arm in worst if arm.replies_corrupt][:MOST]
    found = slices(histories, findings)
    if not arms or not found:
        return None
    figure = new_figure(11.0, 1.1 + 2.2 * len(arms))
    panels = figure.subplots(len(arms), len(DIMENSIONS), sharey=True, squeeze=False)
    for row, arm in zip(panels, arms, strict=True):
        look = LOOKS.get(arm.verdict, OTHER)
        for axes, what in zip(row, DIMENSIONS, strict=True):
            its = [it for it in found if (it.arm, it.what) == (arm.name, what)]
            draw_panel(axes, its, what, look)
        row[0].set_ylabel(f"{wrapped(arm.name, 24)}\n\ncorrupt replies (%)", fontsize=8)
    panels[0, 0].set_ylim(0, None)
    shown = sum(arm.replies_corrupt > 0 for arm in verdict.arms)
    some = f"; the {MOST} worst of {shown} arms" if shown > MOST else ""
    title(
        figure, f"Corrupt replies by what they met: {verdict.scenario}, seed {verdict.seed}{some}"
    )
    figure.supxlabel("of the replies that came; the line is the Wilson 95 % interval", fontsize=9)
    return figure


def draw_panel(axes: Axes, found: Sequence[Slice], what: str, look: Look) -> None:
    """One mark a bucket with its interval; its counts stand below its name."""
    rates = [100 * it.corrupt / it.n for it in found]
    ends = [wilson(it.corrupt, it.n) for it in found]
    below = [rate - 100 * low for rate, (low, _) in zip(rates, ends, strict=True)]
    above = [100 * high - rate for rate, (_, high) in zip(rates, ends, strict=True)]
    places = range(len(found))
    axes.bar(places, rates, width=0.8, color=look.colour, alpha=0.35)
    marks = {"fmt": look.marker, "color": look.colour, "markersize": 4.5, "linewidth": 1.4}
    axes.errorbar(places, rates, yerr=[below, above], clip_on=False, **marks)  # type: ignore[arg-type]
    names = [f"{wrapped(it.bucket, 12)}\n{it.corrupt}/{it.n}" for it in found]
    axes.set_xticks(places, names, fontsize=7)
    axes.set_xlim(-0.6, max(len(found), 3) - 0.4)
    axes.set_title(f"{what}: {DIMENSIONS[what][1]}", fontsize=8)
    only_grid(axes, "y")
