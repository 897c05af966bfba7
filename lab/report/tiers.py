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
from lab.report.grid import Fitted, plain_table

if TYPE_CHECKING:
    from lab.copies import CopyPath

MISMATCH, NONE = "MISMATCH", "–"
TIERS = ("device", "decode", "host")
ALONE = ("device", "host")  # of an engine that is no pair, whether it has a host tier or not
SHAPE, AGREES = ("pool", "layers", "entries/\ntokens"), "agrees"
COPIES = ("pool", "operation", "branch", "calls", "moved", "unit")
LEGEND = """\
Entries, tokens and bytes are a page's, of one layer; pages count the reserved
one. A pool agrees if its pages lie as far apart on the device as its layout
says, and if the host's rows are the device's. c128_state and hisparse_hot go by
request slot, not by token; hisparse_c4, held against the device's c4, has as
many pages as the device.
"""
OF_A_PAIR = """\
Of a pair, device is the prefill side's and decode the other's; a pool of it
agrees if its pages are the prefill's too. Every rank has pools of its own.
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
    wrong = "\n".join(f"{MISMATCH}: {what}" for what in mismatches(rows))
    return Group(
        Text(f"Geometry: {', '.join(nested)}", style="bold"),
        _pools(rows, [tier for tier in TIERS if tier in tiers] if "decode" in tiers else ALONE),
        *([Text(wrong, style="bold red")] if wrong else []),
        *([_legend(tiers)] if legend else []),
    )


def _pools(rows: Sequence[Mapping[str, Any]], shown: Sequence[str]) -> Fitted:
    """The rows with the tiers that are shown; where it comes in pieces, bytes before pages."""
    sizes, pages = ([f"{tier}\n{what}" for tier in shown] for what in ("bytes", "pages"))
    cells = []
    for pool, found in by_pool(rows).items():
        good = all(row.get("agrees", True) for row in found.values())
        row = (*_cells(pool, found, shown), "yes" if good else MISMATCH)
        cells.append([Text(cell, style="" if good else "bold red") for cell in row])
    heads = (*SHAPE, *sizes, *pages, AGREES)
    return Fitted(heads, cells, (AGREES,), (*SHAPE[1:], *sizes, AGREES, *pages))


def geometry_report(entries: Sequence[Mapping[str, Any]]) -> RenderableType:
    """What `kvlab doctor --geometry` prints: each engine's pools, and the legend once."""
    parts: list[RenderableType] = []
    for entry in entries:
        build = ", ".join(entry["build"]) or "healthy"
        parts.append(Text(f"{entry['engine']} (build: {build})", style="bold"))
        parts.append(geometry_table(entry["rows"], legend=False))
        ranks = f" in {entry['ranks']} ranks of each side" if entry["ranks"] > 1 else ""
        parts.append(Text(f"in all {spelled(entry['bytes'])}{ranks}\n"))
    return Group(*parts, _legend(tier for entry in entries for tier in entry["bytes"]))


def orders(named: Iterable[tuple[str, str]]) -> str:
    """``page_first (hisparse_c4 layer_first)``: the first pool's order, and whose is another."""
    found = dict(named)
    first = next(iter(found.values()), NONE)
    others = [f"{pool} {order}" for pool, order in found.items() if order != first]
    return f"{first} ({', '.join(others)})" if others else first


def _legend(tiers: Iterable[str]) -> Text:
    return Text(LEGEND + (OF_A_PAIR if "decode" in tiers else ""), style="dim")


def _cells(pool: str, tiers: Mapping[str, Mapping[str, Any]], shown: Sequence[str]) -> list[str]:
    """A pool's numbers: those that its tiers share, then bytes and pages of each that is shown."""
    either = next(iter(tiers.values()))
    tokens = NONE if pool in BY_REQUEST else either.get("page_tokens", NONE)
    shared = (pool, either.get("layers", NONE), f"{either.get('entries', NONE)}/{tokens}")
    sides = [tiers.get(tier, {}) for tier in shown]
    sizes = [f"{side['item_bytes']:,}" if "item_bytes" in side else NONE for side in sides]
    pages = [side.get("pages", NONE) for side in sides]
    return [str(cell) for cell in (*shared, *sizes, *pages)]
