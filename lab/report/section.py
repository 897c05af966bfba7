"""A part of a report as cells and sentences. One rule: whoever shows it lays it out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lab.report.origin import UNKNOWN


@dataclass(frozen=True)
class Section:
    """A heading, a table and sentences under it; ``text`` are the columns that may wrap."""

    title: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    text: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    def lean(self) -> Section:
        """Without the columns in which there is nothing but dashes."""
        kept = [i for i, _ in enumerate(self.heads) if any(row[i] != UNKNOWN for row in self.rows)]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return replace(self, heads=tuple(self.heads[i] for i in kept), rows=rows)

    def __bool__(self) -> bool:
        return bool(self.rows or self.lines)
