"""Requests whose prompt another engine computes. One rule: they hold pages, and are no rows yet.

A request comes in only where every row, and everyone who came in before, can still grow to its
last token: a decode engine has no way to compute a prompt that it gave up
(``num_reserved_decode_tokens``, here as many as each request asked for).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.request import Request, Status
from engine.sched.limits import pages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.sched.holdings import Holdings


class Incoming:
    """The requests that came in, in order, on pages of ``holdings``."""

    def __init__(self, holdings: Holdings) -> None:
        self.requests: list[Request] = []
        self._holdings = holdings
        self._refused: tuple[int, int] | None = None  # who was, and the holdings' gains then

    def reserve(self, req: Request, others: Sequence[Request]) -> bool:
        """Give a request its slot and its prompt's pages; False where it must wait.

        ``others`` are all that hold pages and may grow. Whoever was refused is matched again only
        after something came free: what rows grow by was reserved for them.
        """
        asked = (req.id, self._holdings.gains)
        if asked == self._refused:
            return False
        if not self._holdings.acquire(req, sum(map(growth, others)) + growth(req)):
            self._refused = asked
            return False
        req.move(Status.RUNNING)
        req.kv_len = len(req.prompt)
        self.requests.append(req)
        return True

    def remove(self, req: Request) -> bool:
        """Forget a request that became a row or ended; whether it was here."""
        if req not in self.requests:
            return False
        self.requests.remove(req)
        return True


def growth(req: Request) -> int:
    """Pages that a request may take beyond those of its tokens so far."""
    held = len(req.pages) or pages_of(req.n_tokens)
    return max(0, pages_of(len(req.prompt) + req.max_tokens) - held)
