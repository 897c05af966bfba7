"""Every probe as a column: which toggles were bad in it, and what it showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from lab.plots.bisection import BISECTION_FIGURES, Document
from lab.plots.style import INK, LOOKS, OTHER, PALE, Look, new_figure, title, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Probe = Mapping[str, Any]

MOST = 120  # columns; a longer search shows its first and its last ones
COLUMN, ROW = 0.17, 0.26  # inches
LABELS, HEADS = 2.6, 1.2  # inches: of the toggles with their roles, of the headline
NARROW = 8.0
LETTER = 0.065  # inches of a letter, of a phase's name or of the caption
FIRST, LINE = -1.0, 0.75  # rows: above which the phases' names stand, and how high they are
ABOVE = -0.75  # the row of the baseline's answers
FRAME = Look(PALE, "s")  # where a toggle is good
Fill = Literal["", "half", "full", "small"]


@BISECTION_FIGURES.register("probes")
def draw(told: Document) -> Figure | None:
    """Toggles as rows, probes as columns; filled where the toggle was bad."""
    asked, keys = told["probes"], [it["toggle"] for it in told["toggles"]]
    if not asked:
        return None
    shown = asked if len(asked) <= MOST else [*asked[: MOST // 2], *asked[-MOST // 2 :]]
    columns = max(len(shown), round((NARROW - LABELS) / COLUMN))
    names = staggered([probe["phase"] for probe in shown])
    top = FIRST - LINE * (1 + max(depth for *_, depth in names))
    figure = new_figure(LABELS + COLUMN * columns, HEADS + ROW * (len(keys) + 1 - top))
    axes = figure.add_subplot()
    axes.set_xlim(-0.8, columns - 0.2)
    axes.set_ylim(len(keys) + 1.0, top)
    draw_probes(axes, shown, told)
    _label(axes, told, keys)
    _numbers(axes, len(shown), len(asked))
    _phases(axes, names, top, len(keys))
    _headline(figure, axes, told, len(asked) - len(shown))
    return figure


def draw_probes(axes: Axes, shown: Sequence[Probe], told: Document) -> None:
    """Filled where a toggle is bad, half where a knob is between, else a pale frame.

    The baseline has nothing to fill, and its answer matters most: it has a mark above.
    """
    places: dict[tuple[Look, Fill], list[tuple[float, float]]] = {}
    for column, probe in enumerate(shown):
        look = look_of(probe["units"])
        for row, it in enumerate(told["toggles"]):
            fill = filled(probe, it)
            places.setdefault((look if fill else FRAME, fill), []).append((column, row))
        if not probe["toggles"]:
            places.setdefault((look, "small"), []).append((column, ABOVE))
    for (look, fill), found in places.items():
        axes.plot(
            *zip(*found, strict=True),
            look.marker,
            markersize=4 if fill == "small" else 6,
            markerfacecolor=look.colour if fill else "none",
            markerfacecoloralt="white",
            fillstyle="left" if fill == "half" else "full",
            markeredgecolor=look.colour,
        )
    _counts(axes, shown, len(told["toggles"]))


def filled(probe: Probe, toggle: Mapping[str, Any]) -> Fill:
    """How the mark of a toggle in a probe is filled."""
    if toggle["toggle"] not in probe["toggles"]:
        return ""
    return "full" if probe["toggles"][toggle["toggle"]] == toggle["bad"] else "half"


def look_of(units: Sequence[int]) -> Look:
    """How a probe is drawn: by what it showed."""
    corrupt, counted = units
    return LOOKS["corrupt" if corrupt else "clean"] if counted else OTHER


def _label(axes: Axes, told: Document, keys: Sequence[str]) -> None:
    """The rows' names, with their roles where they have one; culprits are bold."""
    culprits = [it["toggle"] for it in told["culprits"]]
    roles = {key: role.lower() for key, role in told["roles"].items()}
    names = [f"{key}, {roles[key]}" if key in roles else key for key in keys]
    axes.set_yticks(range(len(names)), names, fontsize=8)
    for label, key in zip(axes.get_yticklabels(), keys, strict=True):
        label.set_fontweight("bold" if key in culprits else "normal")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _numbers(axes: Axes, shown: int, asked: int) -> None:
    """Every fifth probe by its number, which the table of all probes has."""
    left_out = asked - shown
    numbers = [i + 1 if i < shown // 2 or not left_out else i + 1 + left_out for i in range(shown)]
    fifth = [(at, str(number)) for at, number in enumerate(numbers) if number % 5 == 0]
    axes.set_xticks([at for at, _ in fifth], [number for _, number in fifth], fontsize=8)


def _counts(axes: Axes, shown: Sequence[Probe], row: int) -> None:
    """Corrupt over units under every column."""
    look: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "top", "fontsize": 7}
    for column, probe in enumerate(shown):
        corrupt, units = probe["units"]
        colour = look_of(probe["units"]).colour
        axes.text(column, row - 0.4, f"{corrupt}/{units}", color=colour, **look)


def _phases(axes: Axes, names: Sequence[tuple[int, str, int]], top: float, rows: int) -> None:
    """Where each phase begins, its name above."""
    for column, phase, depth in names:
        at = top + LINE * (depth + 1)
        if column:
            axes.plot([column - 0.5] * 2, [at, rows - 0.4], color=INK, linewidth=0.6)
        axes.text(column - 0.3, at, phase, fontsize=7, va="bottom", ha="left")


def staggered(phases: Sequence[str]) -> list[tuple[int, str, int]]:
    """Each phase's first column, its name, and how many lines it stands below the top one.

    A phase may come again, and be a single column wide. A name that begins under another one
    stands below it, so that no divider crosses a name.
    """
    names: list[tuple[int, str, int]] = []
    column, running = 0, dict[int, float]()  # where the last name of each line ends
    for phase, group in groupby(phases):
        depth = 1 + max((line for line, end in running.items() if end > column), default=-1)
        running[depth] = column + len(phase) * LETTER / COLUMN + 0.8
        names.append((column, phase, depth))
        column += len(list(group))
    return names


def _headline(figure: Figure, axes: Axes, told: Document, left_out: int) -> None:
    more = f" {left_out} probes in the middle are not shown." if left_out else ""
    said = (
        f"{len(told['probes'])} probes, {told['sessions_spent']} sessions; a column is a probe,"
        " filled where the toggle is bad (half: at a level between)."
        f" Orange diamonds: {told['outcome']}, blue discs: not, grey: shows neither."
        f" Below: {told['outcome']} {told['unit']}s of all.{more}"
    )
    title(figure, f"Probes of the bisection of {told['scenario']}")
    letters = round((figure.get_figwidth() - LABELS) / LETTER)
    axes.set_title(wrapped(said, letters), fontsize=8)
