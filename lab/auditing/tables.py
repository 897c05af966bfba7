"""An audit for a person: a line a check, and all there is about one that failed.

Rule: of many numbers a line shows the one nearest to its bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab.auditing.perform import failed


def tables(document: Mapping[str, Any]) -> RenderableType:
    """Checks, addresses, overlaps of selected sets, and what failed."""
    found = document["versions"]
    where = f"{document['device']}, torch {found['torch']}, Triton {found['triton']}"
    parts: list[RenderableType] = []
    for part, what in (("checks", "beside float64"), ("addressing", "addresses beyond 32 bits")):
        for whose in dict.fromkeys(line["implementation"] for line in document[part]):
            mine = [line for line in document[part] if line["implementation"] == whose]
            parts.append(_checks(mine, f"{whose}, {what}; {where}; seed {document['seed']}"))
    if document["jaccard"]:
        parts.append(_jaccard(document["jaccard"]))
    return Group(*parts, *failures(document), *summary(document))


def summary(document: Mapping[str, Any]) -> Iterator[str]:
    """How many checks passed, of which implementation, where any was asked."""
    lines = [*document["checks"], *document["addressing"]]
    due = [line for line in lines if line["ok"] is not None]
    for line in lines:
        if line["ok"] is None:
            yield f"{line['kernel']}: {line['check']} ({line['implementation']}) {line['inputs']}"
    if due:
        passed = len(due) - len(failed(dict(document)))
        yield f"{passed} of {len(due)} checks passed: {document['implementation']}"


def failures(document: Mapping[str, Any]) -> Iterator[str]:
    """Every number of each check that failed."""
    for line in failed(dict(document)):
        yield f"FAILED {line['kernel']}: {line['check']} ({line['implementation']})"
        if "error" in line:
            yield f"  {line['error']}"
            continue
        yield f"  of {line['inputs']}"
        for name, most in line["bound"].items():
            number = line["measured"][name]
            yield f"  {name}: {number:.3g}, at most {most:.3g}{'' if number <= most else '  <-'}"


def nearest(measured: Mapping[str, float], bound: Mapping[str, float]) -> tuple[str, float, float]:
    """(name, number, bound) of the number that is nearest to its bound, or farthest beyond it."""

    def share(name: str) -> float:
        number, most = measured[name], bound[name]
        if number != number:
            return float("inf")
        return number / most if most else number * float("1e30")

    name = max(bound, key=share)
    return name, measured[name], bound[name]


def _checks(lines: Sequence[Mapping[str, Any]], title: str) -> Table:
    made = _table(title)
    for head in ("kernel", "check", "nearest to its bound"):
        made.add_column(head)
    for head in ("found", "at most"):
        made.add_column(head, justify="right", no_wrap=True)
    made.add_column("ok")
    for line in lines:
        ok = "-" if line["ok"] is None else "yes" if line["ok"] else Text("NO")
        said = ("not run" if line["ok"] is None else "raised", "", "")
        if line["bound"]:
            name, number, most = nearest(line["measured"], line["bound"])
            said = (name, f"{number:.3g}", f"{most:.3g}")
        made.add_row(line["kernel"], line["check"], *said, ok)
    return made


def _jaccard(lines: Sequence[Mapping[str, Any]]) -> Table:
    lengths = sorted({line["entries"] for line in lines})
    made = _table(
        f"Jaccard of the 512 selected with those by float32 keys, mean (least) of "
        f"{lines[0]['rows']} queries of 64 heads, by entries of context (4 tokens each)"
    )
    made.add_column("keys")
    made.add_column("index-K")
    for entries in lengths:
        made.add_column(f"{entries:,}", justify="right")
    for keys, dtype in dict.fromkeys((line["keys"], line["dtype"]) for line in lines):
        mine = {n["entries"]: n for n in lines if (n["keys"], n["dtype"]) == (keys, dtype)}
        cells = [f"{mine[n]['mean']:.3f}\n({mine[n]['least']:.3f})" for n in lengths]
        made.add_row(keys, dtype, *cells)
    return made


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False)
