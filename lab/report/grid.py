"""Tables in the house style, for terminals of any width.

One rule: no number and no verdict is cut. A table that is too wide comes in pieces, each with the
first column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rich.console import Console, ConsoleOptions

NAME = 14  # columns of a name that may wrap, where it is so long
GAP = 2  # between two columns, and at both edges together


def plain_table(*heads: str, text: Collection[str] = ()) -> Table:
    """A table in the house style: the first column and those in ``text`` wrap, numbers do not."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1),
        collapse_padding=True,
        header_style="bold",
    )
    for index, head in enumerate(heads):
        if index == 0 or head in text:
            table.add_column(Text(head), overflow="fold")
        else:
            table.add_column(Text(head), justify="right", no_wrap=True)
    return table


class Fitted:
    """A plain table that comes in pieces where the terminal is too narrow for it.

    Columns in ``text`` wrap, between words. ``narrow`` is the order in which the pieces take the
    columns by their heads, by default that of ``heads``.
    """

    def __init__(
        self,
        heads: Sequence[str],
        rows: Sequence[Sequence[str | Text]],
        text: Collection[str] = (),
        narrow: Sequence[str] = (),
    ) -> None:
        self.heads, self.text = tuple(heads), text
        self.rows = [[Text(c) if isinstance(c, str) else c for c in row] for row in rows]
        self.narrow = [self.heads.index(head) for head in narrow or self.heads[1:]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        for columns in self.pieces(options.max_width):
            yield self.table(columns, options.max_width)

    def table(self, columns: Sequence[int], width: int) -> Table:
        """The table of these columns; those that wrap share what is left, the first one first."""
        table = plain_table(*(self.heads[column] for column in columns), text=self.text)
        spare = max(0, width - self.wide(columns))
        for made, column in zip(table.columns, columns, strict=True):
            if not made.no_wrap:
                least, whole = self._least(column), longest(self._in(column))
                made.width = least + min(spare, max(0, whole - least))
                spare -= made.width - least
        for row in self.rows:
            table.add_row(*(row[column] for column in columns))
        return table

    def pieces(self, width: int) -> list[list[int]]:
        """The columns of each table: one of them all where they fit, else as many as needed."""
        every = list(range(len(self.heads)))
        if self.wide(every) <= width:
            return [every]
        found: list[list[int]] = [[0]]
        for column in self.narrow:
            if len(found[-1]) > 1 and self.wide([*found[-1], column]) > width:
                found.append([0])
            found[-1].append(column)
        return found

    def wide(self, columns: Sequence[int]) -> int:
        """Terminal columns that a table of these takes at least."""
        return sum(self._least(column) + GAP for column in columns)

    def _least(self, column: int) -> int:
        cells, head = self._in(column), longest(self.heads[column].split("\n"))
        if column == 0:
            return max(head, longest(_words(cells)), min(longest(cells), NAME))
        return max(head, longest(_words(cells) if self.heads[column] in self.text else cells))

    def _in(self, column: int) -> list[str]:
        return [row[column].plain for row in self.rows]


def longest(texts: Sequence[str]) -> int:
    """Terminal columns of the widest text; 0 of none."""
    return max(map(cell_len, texts), default=0)


def _words(cells: Sequence[str]) -> list[str]:
    return [word for cell in cells for word in cell.split()]
