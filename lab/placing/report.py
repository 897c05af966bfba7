"""`kvlab probe damage`: of the replies that met blocks which a fault damaged, how many needed one,
came out wrong, and were placed there by the judge; how many found other rows where they looked; and
how many were wrong with neither. One rule: counts, and no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from lab.errors import UserError
from lab.placing.evidence import COUNTED, INJECTED, Evidence, Hit, counted
from lab.stats import wilson

if TYPE_CHECKING:
    from lab.store import Results

HEADS = ("damaged rows", "met", "needed", "wrong", "95 %", "placed", "doubled", "wrong", "neither")
MEANING = (
    "needed: a row was lost that the reply is made of. doubled: none was, but the rows there keep "
    "positions that it looks at. neither: wrong without a reason in what it met"
)


def damage_document(results: Results, run: str) -> dict[str, Any]:
    """The counts of every arm with a fault; raises ``UserError`` where no arm has one."""
    arms = []
    for history in results.histories(run):
        if any(kind == INJECTED for _, kind, _ in history.events):
            hits = list(Evidence(history).hits())
            arms.append(
                {
                    "arm": history.name,
                    "injected": history.counters.get("faults_injected", 0),
                    "all": _of(hits),
                    "rows": counted(hits),
                }
            )
    if not arms:
        raise UserError(f"run {run}: no fault of a build struck in any arm")
    return {"run": run, "arms": arms}


def damage_tables(document: dict[str, Any]) -> list[Table]:
    """A table an arm."""
    return [_table(arm) for arm in document["arms"]]


def _of(hits: list[Hit]) -> dict[str, int]:
    """Every reply once, whatever it met."""
    needed = [hit for hit in hits if hit.depends]
    wrong = [hit for hit in needed if hit.wrong]
    return {
        "met": len(hits),
        "needed": len(needed),
        "wrong": len(wrong),
        "placed": sum(hit.found for hit in wrong),
        "doubled": sum(hit.doubled for hit in hits),
        "wrong_doubled": sum(hit.doubled and hit.wrong for hit in hits),
        "wrong_unneeded": sum(hit.wrong for hit in hits if not (hit.depends or hit.doubled)),
    }


def _table(arm: dict[str, Any]) -> Table:
    title = f"{arm['arm']}: {arm['injected']} damages"
    table = Table(title=title, title_justify="left", caption=MEANING, caption_justify="left")
    for head in HEADS:
        table.add_column(head, justify="left" if head == HEADS[0] else "right")
    for name, row in (*arm["rows"].items(), ("all", arm["all"])):
        met, needed, wrong, placed, *others = (row[key] for key in COUNTED)
        low, high = wilson(wrong, needed)
        share = f"{low:.0%} to {high:.0%}" if needed else ""
        table.add_row(name, *map(str, (met, needed, wrong)), share, str(placed), *map(str, others))
    return table
