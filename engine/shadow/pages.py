"""Which pages were written, by whom they are held now: what a reader of a prefix may rely on.

One rule: it looks at what a step reads, before it reads. Two invariants, whatever the build:

- ``page_changed_between_match_and_read``: a page of a request's prefix is free, or was handed out
  anew, since the request was given it;
- ``read_of_unwritten_row``: a row of a prefix was never written by whoever holds its page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine.config import PAGE_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.events import EventLog
    from engine.request import Request


class Owners(Protocol):
    """Who holds a page now."""

    def owner_of(self, page: int) -> str | None:
        """``request 7``, ``cache``, or None for a free or reserved page."""
        ...

    def generation_of(self, page: int) -> int:
        """Changes whenever the page is taken anew, not when its request leaves it to the cache."""
        ...


class PageWatch:
    """The rows written of each device page, and the generation that wrote them."""

    def __init__(self, pages: int, events: EventLog, owners: Owners) -> None:
        self._events, self._owners = events, owners
        self._rows = [0] * (pages + 1)  # page -> rows [0, n) are written
        self._by = [0] * (pages + 1)  # page -> the generation that wrote them

    def wrote(self, req: Request, start: int, end: int) -> None:
        """A step writes the rows of positions [start, end)."""
        for index in range(start // PAGE_TOKENS, -(-end // PAGE_TOKENS)):
            self._mark(req.pages[index], min(PAGE_TOKENS, end - index * PAGE_TOKENS))

    def wrote_row(self, req: Request, position: int) -> None:
        """A decode step writes one row."""
        self._mark(req.pages[position // PAGE_TOKENS], position % PAGE_TOKENS + 1)

    def restored(self, pages: Iterable[int]) -> None:
        """Copies from the host, gated elsewhere, fill whole pages."""
        for page in pages:
            self._mark(page, PAGE_TOKENS)

    def landed(self, page: int, rows: int) -> None:
        """A transfer brought the rows [0, ``rows``) of a page to whoever holds it now."""
        self._mark(page, rows)

    def rows_written(self, page: int) -> int:
        """Rows [0, n) that whoever holds the page now has written; 0 if all are of another time."""
        return self._rows[page] if self._by[page] == self._owners.generation_of(page) else 0

    def reads(self, req: Request, tokens: int) -> None:
        """Judge a prefix of whole pages before a step reads it."""
        prefix = req.pages[: tokens // PAGE_TOKENS]
        takes: Sequence[int] = req.takes[: len(prefix)]
        changed = [page for page, take in zip(prefix, takes, strict=True) if self._lost(page, take)]
        if changed:
            self._say("page_changed_between_match_and_read", req, changed)
        unwritten = [page for page in prefix if not self._whole(page)]
        if unwritten:
            self._say("read_of_unwritten_row", req, unwritten)

    def _mark(self, page: int, rows: int) -> None:
        self._rows[page], self._by[page] = rows, self._owners.generation_of(page)

    def _lost(self, page: int, take: int) -> bool:
        return self._owners.generation_of(page) != take or self._owners.owner_of(page) is None

    def _whole(self, page: int) -> bool:
        return self.rows_written(page) == PAGE_TOKENS

    def _say(self, violation: str, req: Request, pages: list[int]) -> None:
        owner = self._owners.owner_of(pages[0]) or "nobody"
        self._events.violation(violation, n=len(pages), request=req.id, page=pages[0], owner=owner)
