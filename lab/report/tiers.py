"""Tables of the memory hierarchy: which copies ran, and what each pool is in each tier.

One rule: a mismatch is a word before it is a colour, and what never ran is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from engine.shapes import BY_REQUEST
from lab.copies import by_pool, never_ran
from lab.memory import spelled
from lab.mismatches import mismatches
from lab.report.grid import plain_table

if TYPE_CHECKING:
    from lab.copies import CopyPath

MISMATCH, NONE = "MISMATCH", "–"
GEOMETRY = (
    *("pool", "layers", "entries/\ntokens", "device\nbytes", "host\nbytes"),
    *("device\npages", "host\npages", "agrees"),
)
COPIES = ("pool", "operation", "branch", "calls", "moved", "unit")
LEGEND = """\
Entries, tokens and bytes are a page's, of one layer; pages count the reserved
one. A pool agrees if its pages lie as far apart on the device as its layout
says, and if the host's rows are the device's. c128_state and hisparse_hot go by
request slot, not by token; hisparse_c4, held against the device's c4, has as
many pages as the device.
"""


def paths_table(paths: Sequence[CopyPath]) -> RenderableType:
    """One row a copy path, and in words those that never ran."""
    title = f"Copies between the tiers; the host is {orders((p.pool, p.layout) for p in paths)}"
    table = plain_table(*COPIES, text=(*COPIES[:3], "unit"))
    for path in paths:
        words = (path.pool, path.operation, path.branch)
        numbers = (str(path.calls), str(path.rows))
        table.add_row(*(Text(word) for word in words), *numbers, path.unit)
    never = never_ran(paths)
    said = f"Never ran: {'; '.join(never)}." if never else "Every one of these ran."
    return Group(Text(title, style="bold"), table, Text(f"{said}\n"))


def geometry_table(rows: Sequence[Mapping[str, Any]], legend: bool = True) -> RenderableType:
    """One row a pool, its tiers side by side; red, and in words, where they disagree."""
    tiers = dict.fromkeys(str(row.get("tier")) for row in rows)
    nested = [
        f"{tier} {orders((r['pool'], r['order']) for r in rows if r.get('tier') == tier)}"
        for tier in tiers
    ]
    table = plain_table(*GEOMETRY, text=("agrees",))
    for pool, found in by_pool(rows).items():
        good = all(row.get("agrees", True) for row in found.values())
        style = "" if good else "bold red"
        table.add_row(*_cells(pool, found), "yes" if good else MISMATCH, style=style)
    wrong = "\n".join(f"{MISMATCH}: {what}" for what in mismatches(rows))
    return Group(
        Text(f"Geometry: {', '.join(nested)}", style="bold"),
        table,
        *([Text(wrong, style="bold red")] if wrong else []),
        *([Text(LEGEND, style="dim")] if legend else []),
    )


def geometry_report(entries: Sequence[Mapping[str, Any]]) -> RenderableType:
    """What `kvlab doctor --geometry` prints: each engine's pools, and the legend once."""
    parts: list[RenderableType] = []
    for entry in entries:
        build = ", ".join(entry["build"]) or "healthy"
        parts.append(Text(f"{entry['engine']} (build: {build})", style="bold"))
        parts.append(geometry_table(entry["rows"], legend=False))
        parts.append(Text(f"in all {spelled(entry['bytes'])}\n"))
    return Group(*parts, Text(LEGEND, style="dim"))


def orders(named: Iterable[tuple[str, str]]) -> str:
    """``page_first (hisparse_c4 layer_first)``: the first pool's order, and whose is another."""
    found = dict(named)
    first = next(iter(found.values()), NONE)
    others = [f"{pool} {order}" for pool, order in found.items() if order != first]
    return f"{first} ({', '.join(others)})" if others else first


def _cells(pool: str, tiers: Mapping[str, Mapping[str, Any]]) -> list[Text]:
    """A pool's numbers: those that its tiers share, then bytes and pages of either."""
    either = next(iter(tiers.values()))
    tokens = NONE if pool in BY_REQUEST else either.get("page_tokens", NONE)
    shared = (pool, either.get("layers", NONE), f"{either.get('entries', NONE)}/{tokens}")
    sides = [tiers.get(tier, {}) for tier in ("device", "host")]
    sizes = [f"{side['item_bytes']:,}" if "item_bytes" in side else NONE for side in sides]
    pages = [side.get("pages", NONE) for side in sides]
    return [Text(str(cell)) for cell in (*shared, *sizes, *pages)]
