"""Tables of `kvlab bench bisect`. One rule: a table a rate, a column a size of the culprit set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Group as Lines
from rich.table import Table
from rich.text import Text

from lab.bench_bisect_cells import GROUPS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lab.bench_bisect import Cell, Summary

ABOUT = """\
Sessions to a verdict, {toggles} toggles: mean/p95/wrong %, and ?n where n % of the searches name
no set. k is the size of the culprit set; the lower bound is what information demands at 1 % error.
ofat, ddmin and QuickXplain are told the rates, and phase 0 is not counted; bayes is told neither
and pays for phase 0, but knows an exact checker, which has no background, where there is none.
"and confirmed" counts phase 2, on fresh seeds; there ?n are not confirmed."""
BOUND = "lower bound"


def tables(cells: Sequence[Cell], toggles: int) -> RenderableType:
    """What the figures are, then a table a group and rate."""
    found: list[RenderableType] = [Text(ABOUT.format(toggles=toggles))]
    for (name, p1), some in groupby(cells, key=lambda cell: (cell.group, cell.p1)):
        found += [Text(), table(name, p1, list(some))]
    return Lines(*found)


def table(group: str, p1: float, cells: Sequence[Cell]) -> Table:
    """The contenders of one group at one rate, a row each."""
    title = next(each.title for each in GROUPS if each.name == group)
    worlds = cells[0].rows[0].discovered.worlds
    made = Table(title=f"p1 = {_number(p1)}, {title} ({worlds} worlds a cell)")
    made.title_justify = "left"
    made.add_column("method", no_wrap=True)
    for cell in cells:
        made.add_column(f"k = {cell.k}", justify="right", no_wrap=True)
    made.add_row(BOUND, *(f"{cell.lower_bound:.0f}" for cell in cells), end_section=True)
    for same in zip(*(cell.rows for cell in cells), strict=True):
        made.add_row(same[0].label, *(_text(row.discovered) for row in same))
        ends = [row.confirmed for row in same if row.confirmed]
        if ends:
            made.add_row("  and confirmed", *map(_text, ends))
    return made


def _text(found: Summary) -> str:
    said = f"{found.mean:.0f}/{found.p95}/{_number(found.wrong)}"
    return said + (f" ?{_number(found.undecided)}" if found.undecided else "")


def _number(value: float) -> str:
    """Short, as tables of rates are: .5, 17, 0."""
    text = f"{value:.3g}"
    return text.removeprefix("0") if text.startswith("0.") else text
