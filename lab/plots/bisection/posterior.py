"""Which sets of toggles were believed to blame, after every probe of the discovery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.plots.bisection import BISECTION_FIGURES
from lab.plots.style import INK, new_figure, title, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lab.bisect.conclusion import Belief, Conclusion
    from lab.bisect.notebook import Probe
    from lab.bisect.space import Space

# Okabe and Ito's palette (2008), each with a dash of its own, for whoever prints in black.
LINES = (
    ("#D55E00", "-"),
    ("#0072B2", "--"),
    ("#009E73", "-."),
    ("#CC79A7", ":"),
    ("#56B4E9", (0, (5, 1))),
    ("#E69F00", (0, (1, 1))),
)


@BISECTION_FIGURES.register("posterior")
def draw(
    scenario: str, conclusion: Conclusion, probes: Sequence[Probe], space: Space
) -> Figure | None:
    """A line a set: the likeliest six at any time; None for methods that have no posterior."""
    beliefs = conclusion.beliefs
    if not beliefs:
        return None
    figure = new_figure(8.0, 4.2)
    axes = figure.add_subplot()
    for (colour, dash), found in zip(LINES, leaders(beliefs), strict=False):
        shares = [dict(belief.sets).get(found, 0.0) for belief in beliefs]
        spent = [belief.spent for belief in beliefs]
        axes.plot(spent, shares, color=colour, linestyle=dash, label=named(found), linewidth=1.8)
        axes.plot(spent[-1], shares[-1], "o", color=colour, markersize=4, clip_on=False)
    _frame(axes, beliefs)
    title(figure, f"What was believed while bisecting {scenario}")
    said = f"{conclusion.verdict.value}: {conclusion.reason}"
    axes.set_title(wrapped(said, 100), fontsize=8)
    return figure


def leaders(beliefs: Sequence[Belief]) -> list[tuple[str, ...]]:
    """The sets that were once the likeliest, or nearly: by their greatest share, then by name."""
    most: dict[tuple[str, ...], float] = {}
    for belief in beliefs:
        for found, share in belief.sets:
            most[found] = max(share, most.get(found, 0.0))
    last = dict(beliefs[-1].sets)
    order = sorted(most, key=lambda one: (-last.get(one, 0.0), -most[one], one))
    return order[: len(LINES)]


def named(found: tuple[str, ...]) -> str:
    """The set as a legend has it."""
    return " + ".join(found) or "none of them"


def _frame(axes: Axes, beliefs: Sequence[Belief]) -> None:
    axes.axhline(0.99, color=INK, linewidth=0.8, linestyle=(0, (2, 3)))
    axes.annotate("0.99", (beliefs[0].spent, 0.99), fontsize=7, va="bottom")
    axes.set_ylim(-0.02, 1.05)
    axes.set_ylabel("posterior probability")
    axes.set_xlabel("sessions spent, those of reproduction and control among them")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)
