"""What was not waited for, kept for whoever meets one of the two later, as a last writer.

One rule: an edge is missing at the pages where it was found missing, and at no other page that the
same operation touched. A copy's other end lies in another book, whose pages are not told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.shadow.book import PageBook


class Missing(dict[int, str]):
    """Edges by operation, where they are no matter of one page; and by page, of all operations."""

    def __init__(self) -> None:
        self._at: dict[tuple[int, PageBook, int], str] = {}
        self._book: dict[int, PageBook] = {}  # that of the pages of which an operation's edge is

    def add(self, op: int, book: PageBook, page: int, edge: str, copies: bool) -> None:
        """An operation, and another one that ``edge`` names, did not wait for each other at a page;
        one that ``copies`` carries it to its other end.
        """
        self._at.setdefault((op, book, page), edge)
        if copies and op not in self:
            self[op], self._book[op] = edge, book

    def at(self, op: int, book: PageBook, page: int) -> str:
        """The edge that an operation lacks at a page (-1: none, or any); empty if it lacks none."""
        if edge := self._at.get((op, book, page)):
            return edge
        elsewhere = page >= 0 and self._book.get(op) is book
        return "" if elsewhere else self.get(op, "")
