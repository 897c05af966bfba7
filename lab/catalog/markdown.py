"""The table as plain markdown, to be pasted. One rule: an entry is a heading that can be linked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.catalog.lines import TITLES, lines, ties, watchers
from lab.report.markdown import table as cells

if TYPE_CHECKING:
    from lab.catalog.incidents import Incident
    from lab.catalog.table import Catalog


def markdown(table: Catalog) -> str:
    """The whole page; ends with a newline."""
    parts = ["# Incidents, and what names them"]
    for kind in dict.fromkeys(it.kind for it in table.incidents):
        parts.append(f"## {TITLES[kind]}")
        parts += [_incident(it) for it in table.incidents if it.kind == kind]
    if table.names:
        named = [
            (f"`{it.name}`", it.kind, it.meaning, watchers(it), ties(it) or "–")
            for it in table.names
        ]
        heads = ("name", "kind", "meaning", "watched by", "names")
        parts += ["## Violations and faults", cells(heads, named)]
    if table.detectors:
        judges = [(f"`{it.name}`", it.kind, it.finds) for it in table.detectors]
        parts += ["## Detectors of replies", cells(("detector", "kind", "finds"), judges)]
    return "\n\n".join(parts) + "\n"


def _incident(it: Incident) -> str:
    told = "\n".join(f"- {label}: {text}" for label, text in lines(it).items())
    return f"### {it.name}\n\n{it.mechanism}\n\n{told}"
