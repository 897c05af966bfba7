"""The table for a terminal. One rule: a list of all says how to see one of it in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lab.catalog.lines import TITLES, brief, lines, shortly, ties, watchers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lab.catalog.incidents import Incident
    from lab.catalog.names import Name
    from lab.catalog.table import Catalog, Judge

MORE = (
    "`kvlab catalog NAME` shows one in full; `kvlab run NAME` makes it happen where that tells of "
    "arms that it is shown by"
)
INDENT = 2


def listing(table: Catalog) -> RenderableType:
    """Every incident kind by kind, what names them, and what judges replies."""
    kinds = dict.fromkeys(it.kind for it in table.incidents)
    parts: list[RenderableType] = []
    for kind in kinds:
        of_kind = [it for it in table.incidents if it.kind == kind]
        parts += [Text(TITLES[kind], style="bold underline"), Text()]
        parts += [part for it in of_kind for part in _entry(it, shortly(it), brief(it))]
    return Group(*parts, *_tables(table), Text(MORE, style="dim"))


def entry(table: Catalog) -> RenderableType:
    """What `chosen` left: incidents in full, and what they are tied to."""
    told = [part for it in table.incidents for part in _entry(it, it.kind, lines(it))]
    return Group(*told, *_tables(table))


def _tables(table: Catalog) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if table.names:
        parts += [Text("Violations and faults", style="bold"), _names(table.names)]
    if table.detectors:
        title = "Detectors of replies, the most telling first"
        parts += [Text(title, style="bold"), _detectors(table.detectors)]
    return parts


def _entry(it: Incident, beside: str, told: Mapping[str, str]) -> list[RenderableType]:
    """The name and what stands beside it, the mechanism, labelled lines."""
    head = Text(it.name, style="bold")
    head.append(f"  {beside}" if beside else "", style="not bold dim")
    return [head, Padding(Group(Text(it.mechanism), _labelled(told)), (0, 0, 1, INDENT))]


def _labelled(told: Mapping[str, str]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, text in told.items():
        grid.add_row(Text(label), Text(text))
    return grid


def _names(found: Iterable[Name]) -> Table:
    table = _table("name", "")
    for it in found:
        told = {"watched by": watchers(it), "names": ties(it)}
        known = {label: text for label, text in told.items() if text}
        left = Text(it.name)
        left.append("\nfault" if it.kind == "fault" else "", style="dim")
        table.add_row(left, Group(Text(it.meaning), _labelled(known)))
    return table


def _detectors(found: Iterable[Judge]) -> Table:
    table = _table("detector", "kind", "finds")
    for it in found:
        table.add_row(Text(it.name), Text(it.kind), Text(it.finds))
    return table


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for index, head in enumerate(heads):
        table.add_column(head, no_wrap=index + 1 < len(heads), overflow="fold")
    return table
