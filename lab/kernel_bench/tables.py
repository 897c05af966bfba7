"""What was measured, for a person. Rule: a ratio is of two times of this run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table


def tuned(document: Mapping[str, Any]) -> Table:
    """The best candidate of each case beside what the code chooses."""
    made = Table(title=f"{document['device']}, medians of graph replays")
    made.title_justify = "left"
    made.add_column("case")
    made.add_column("best")
    for head in ("ms", "x floor", "as chosen ms", "tried", "failed"):
        made.add_column(head, justify="right", no_wrap=True)
    for case in document["cases"]:
        tried = {each["name"]: each for each in case["tried"]}
        best, floor = tried.get(case["best"] or ""), case["floor_ms"]
        made.add_row(
            f"{case['kernel']}, {case['size']}",
            case["best"] or "-",
            f"{best['ms']:.4f}" if best else "-",
            f"{best['ms'] / floor:.2f}" if best else "-",
            _ms(tried.get("as chosen", {}).get("ms")),
            str(len(tried)),
            str(sum(bool(each["error"]) for each in tried.values())),
        )
    return made


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
