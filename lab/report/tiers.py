"""Tables of the memory hierarchy: which copies ran, and what each pool is in each tier.

One rule: a mismatch is a word before it is a colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from lab.report.table import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from lab.tiers import CopyPath

MISMATCH = "MISMATCH"
COLUMNS = {
    "pool": "geometry",
    "tier": "tier",
    "order": "layout",
    "page_tokens": "tokens\na page",
    "entries": "entries\na page",
    "item_bytes": "bytes\na row",
    "layers": "layers",
    "pages": "pages",
}
WORDS = ("tier", "operation", "branch", "layout")


def paths_table(paths: Sequence[CopyPath]) -> Table:
    """One row a copy path, those that never ran too."""
    heads = ("copies", "operation", "branch", "layout", "calls", "page rows\nor tokens")
    table = plain_table(*heads, text=WORDS)
    for path in paths:
        words = (path.pool, path.operation, path.branch, path.layout)
        table.add_row(*(Text(word) for word in words), str(path.calls), str(path.rows))
    return table


def geometry_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """One row a pool and tier, a pool's tiers together; red, and in words, where they disagree."""
    table = plain_table(*COLUMNS.values(), "agrees", text=(*WORDS, "agrees"))
    pools = [row.get("pool") for row in rows]
    for row in sorted(rows, key=lambda row: pools.index(row.get("pool"))):
        good = row.get("agrees", True)
        cells = [Text(str(row.get(key, "–"))) for key in COLUMNS]
        agrees = Text("yes" if good else MISMATCH)
        table.add_row(*cells, agrees, style="" if good else "bold red")
    return table
