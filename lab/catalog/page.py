"""The table as one HTML page. One rule: it loads nothing, and without scripts it shows all.

Names of incidents, violations and faults are links wherever they stand; issues are links to GitHub.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from lab.catalog.lines import TITLES, lines, shortly, ties, watchers
from lab.catalog.style import SCRIPT, STYLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lab.catalog.incidents import Incident
    from lab.catalog.table import Catalog

ISSUE = re.compile(r"\b([\w-]+/[\w.-]+)#(\d+)")
CODE = re.compile(r"`([^`]+)`")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
NAME_HEADS = ("violation or fault", "meaning", "watched by", "names")
JUDGE_HEADS = ("detector", "kind", "finds")
BESIDE = {  # the columns after the first, and the lines that stand in them
    "what is wrong, and what it takes": (
        *("trigger", "tried with", "symptom", "cleared by", "not cleared by"),
    ),
    "what names it, and what mends it": (
        *("named by", "concludes", "shown by", "fix", "healthy class", "seams"),
        *("scenario", "also in", "origin"),
    ),
}


def page(table: Catalog) -> str:
    """The whole page; ends with a newline."""
    writer = Writer([it.name for part in (table.incidents, table.names) for it in part])
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>kvlab: incidents, and what names them</title><style>{STYLE}</style></head>",
            "<body><h1>Incidents, and what names them</h1>",
            _controls(table.incidents),
            *writer.incidents(table),
            *writer.names(table),
            *writer.detectors(table),
            f"<script>{SCRIPT}</script></body></html>\n",
        ]
    )


class Writer:
    """Writes tables in which ``known`` names are links to their rows."""

    def __init__(self, known: Sequence[str]) -> None:
        longest = sorted(known, key=len, reverse=True)
        self._name = re.compile(rf"(?<![\w#/])({'|'.join(longest)})(?!\w)") if longest else None

    def incidents(self, table: Catalog) -> list[str]:
        """A row an incident."""
        return _table(
            "Incidents", ("incident", *BESIDE), [self._incident(it) for it in table.incidents]
        )

    def names(self, table: Catalog) -> list[str]:
        """A row a violation or fault."""
        rows = [
            _row(
                it.name,
                it.kind,
                f"<code>{_broken(it.name)}</code>{_badge(it.kind)}",
                self.text(it.meaning),
                self.text(watchers(it)),
                self.text(ties(it) or "–"),
            )
            for it in table.names
        ]
        return _table("Violations and faults", NAME_HEADS, rows)

    def detectors(self, table: Catalog) -> list[str]:
        """A row a detector of replies."""
        rows = [
            _row(f"detector-{it.name}", it.kind, f"<code>{it.name}</code>", it.kind, finds)
            for it in table.detectors
            for finds in [self.text(it.finds)]
        ]
        return _table("Detectors of replies, the most telling first", JUDGE_HEADS, rows)

    def text(self, plain: str) -> str:
        """Text as HTML, with its code and its links."""
        told = CODE.sub(r"<code>\1</code>", html.escape(plain, quote=False))
        told = ISSUE.sub(r'<a href="https://github.com/\1/issues/\2">\1#\2</a>', told)
        return self._name.sub(_link, told) if self._name else told

    def _incident(self, it: Incident) -> str:
        told = lines(it)
        first = f"<b>{_broken(it.name)}</b>{_badge(it.kind)}<p>{self.text(shortly(it))}</p>"
        columns = [self._labelled(told, labels) for labels in BESIDE.values()]
        columns[0] = f"<p class=what>{self.text(it.mechanism)}</p>{columns[0]}"
        return _row(it.name, it.kind, first, *columns)

    def _labelled(self, told: dict[str, str], labels: Iterable[str]) -> str:
        found = [(label, self.text(told[label])) for label in labels if label in told]
        inside = "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in found)
        return f"<dl>{inside}</dl>" if inside else ""


def _controls(incidents: Sequence[Incident]) -> str:
    """What filters; a page without scripts has no use for it, and does not show it."""
    kinds = dict.fromkeys(it.kind for it in incidents)
    options = "".join(f'<option value="{kind}">{TITLES[kind]}</option>' for kind in kinds)
    return (
        '<form hidden><input type="search" placeholder="filter: words, settings, names" '
        f'aria-label="filter"> <select aria-label="kind"><option value="">every kind</option>'
        f"{options}</select> <output></output></form>"
    )


def _table(title: str, heads: Sequence[str], rows: Sequence[str]) -> list[str]:
    if not rows:
        return []
    head = "".join(f"<th>{text}</th>" for text in heads)
    return [
        f"<h2>{title}</h2><table><thead><tr>{head}</tr></thead><tbody>",
        *rows,
        "</tbody></table>",
    ]


def _row(name: str, kind: str, *columns: str) -> str:
    inside = "".join(f"<td>{text}</td>" for text in columns)
    return f'<tr id="{name}" data-kind="{kind}">{inside}</tr>'


def _link(found: re.Match[str]) -> str:
    return f'<a href="#{found[1]}">{_broken(found[1])}</a>'


def _broken(name: str) -> str:
    """A name that may wrap behind its underscores, and is copied without a break."""
    return name.replace("_", "_<wbr>")


def _badge(kind: str) -> str:
    return f' <span class="kind {kind}">{kind}</span>'
