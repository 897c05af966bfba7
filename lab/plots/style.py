"""The house style of figures: colours that the colour-blind tell apart, and stable bytes.

One rule: no pyplot and no global state; a figure is an object, drawn and saved inside ``styled``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

INK, PALE = "#222222", "#d9d9d9"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine has it
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "white",
    "svg.hashsalt": "kvlab",
}
DPI = 160


@dataclass(frozen=True)
class Look:
    """How one verdict is drawn: the marker tells what the colour tells."""

    colour: str
    marker: str


# Okabe and Ito's palette (2008).
LOOKS = {
    "clean": Look("#0072B2", "o"),
    "corrupt": Look("#D55E00", "D"),
    "inconclusive": Look("#7f7f7f", "^"),
    "wedged": Look("#000000", "X"),
    "nondeterministic": Look("#CC79A7", "s"),
    "parser_fault": Look("#E69F00", "v"),
}
OTHER = Look("#7f7f7f", "P")


@contextmanager
def styled() -> Iterator[None]:
    """The house style, for whatever is drawn and saved inside."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def new_figure(width_in: float, height_in: float) -> Figure:
    """An empty figure of that size in inches, which lays itself out."""
    return Figure(figsize=(width_in, height_in), layout="constrained")


def title(figure: Figure, headline: str) -> None:
    """The figure's headline, at its left edge."""
    figure.suptitle(headline, x=0.01, ha="left", fontsize=11, fontweight="bold")


def wrapped(name: str, width: int = 26) -> str:
    """An arm's name on as many lines as it needs."""
    return "\n".join(textwrap.wrap(name, width)) or name


def only_grid(axes: Axes, axis: str) -> None:
    """Keep the grid lines of one axis (``x`` or ``y``)."""
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x" if axis == "x" else "y")


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """``name.png`` and ``name.svg`` in ``folder``, without a date or a version in them."""
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    figure.savefig(png, dpi=DPI, metadata={"Software": None})
    figure.set_layout_engine("none")  # it is laid out, which takes as long as to draw it
    figure.savefig(svg, metadata={"Date": None, "Creator": "kvlab"})
    return [png, svg]
