"""Which sets of toggles were believed to blame, after every probe of the discovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

from lab.plots.bisection import BISECTION_FIGURES, Document
from lab.plots.style import INK, new_figure, title, wrapped
from lab.report.bisection_words import headline, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Belief = Mapping[str, Any]

# Okabe and Ito's palette (2008), each with a dash and a mark of its own, for who prints in black.
LINES: tuple[tuple[str, Any, str], ...] = (
    ("#D55E00", "-", "o"),
    ("#0072B2", "--", "s"),
    ("#009E73", "-.", "^"),
    ("#CC79A7", ":", "D"),
    ("#56B4E9", (0, (5, 1)), "v"),
    ("#E69F00", (0, (1, 1)), "P"),
)
WIDE = 100  # characters of the line under the headline
NAME = 30  # characters of a set in the legend
ENOUGH = 0.99  # where discovery ends
MARKS = 40  # on a line


@BISECTION_FIGURES.register("posterior")
def draw(told: Document) -> Figure | None:
    """A line a set, six at most; None for methods that have no posterior."""
    beliefs = discovery(told)
    if not beliefs:
        return None
    figure = new_figure(8.5, 4.2)
    axes = figure.add_subplot()
    spent = [belief["sessions"] for belief in beliefs]
    for (colour, dash, mark), found in zip(LINES, leaders(beliefs), strict=False):
        shares = [believed(belief).get(found, nan) for belief in beliefs]
        look = {"color": colour, "linestyle": dash, "linewidth": 1.6}
        look |= {"marker": mark, "markersize": 3.5, "markevery": max(1, len(spent) // MARKS)}
        axes.plot(spent, shares, label=wrapped(named(found), NAME), clip_on=False, **look)
    _frame(axes, spent)
    title(figure, f"What was believed while bisecting {told['scenario']}")
    axes.set_title(wrapped(headline(told), WIDE), fontsize=8, pad=8)
    return figure


def discovery(told: Document) -> list[Belief]:
    """The beliefs about sets of toggles, where a method has any.

    Those about the levels of a knob name no toggle and are another matter.
    """
    keys = {it["toggle"] for it in told["toggles"]}
    beliefs = [it for it in told["beliefs"] if keys.issuperset(chain(*believed(it)))]
    return beliefs if any(max(believed(it).values(), default=0.0) for it in beliefs) else []


def believed(belief: Belief) -> dict[tuple[str, ...], float]:
    """Probabilities by set."""
    return {tuple(keys): share for keys, share in belief["sets"]}


def leaders(beliefs: Sequence[Belief]) -> list[tuple[str, ...]]:
    """Six sets: the one that is believed in the end, then those that ever were, then by name."""
    most: dict[tuple[str, ...], float] = {}
    for belief in beliefs:
        for found, share in believed(belief).items():
            most[found] = max(share, most.get(found, 0.0))
    last = believed(beliefs[-1])
    best = max(last, key=lambda one: last[one])
    return sorted(most, key=lambda one: (one != best, -most[one], one))[: len(LINES)]


def _frame(axes: Axes, spent: Sequence[int]) -> None:
    axes.axhline(ENOUGH, color=INK, linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
    axes.set_ylim(0, 1.0)
    axes.set_yticks([0, 0.25, 0.5, 0.75, ENOUGH], ["0", "0.25", "0.5", "0.75", f"{ENOUGH}"])
    axes.margins(x=0.02)
    axes.set_ylabel("posterior probability")
    axes.set_xlabel("sessions spent, those of reproduction and control among them")
    if len(spent) == 1:
        axes.set_xlim(0, 2 * spent[0] or 1)
    look = {"fontsize": 8, "frameon": False, "title_fontsize": 8, "alignment": "left"}
    known = "the likeliest sets; drawn while\namong the first eight"
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), title=known, **look)
