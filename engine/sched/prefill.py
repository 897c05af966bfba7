"""The waiting queue, cut into chunks. One rule: first come, first served, and nobody overtakes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from engine.config import PAGE_TOKENS
from engine.request import Request, Status
from engine.sched.batch import Chunk
from engine.sched.retraction import headroom

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.sched.holdings import Holdings


class PrefillQueue:
    """Requests that wait, and the one whose prompt is computed in part.

    A step takes up to ``budget`` tokens from the front. A request is admitted only when the step
    still has room, so that it sees the prefixes published until then.
    """

    def __init__(self, holdings: Holdings, budget: int) -> None:
        self.waiting: deque[Request] = deque()
        self.partial: Request | None = None  # admitted; its last chunk is still to come
        self._holdings = holdings
        self._budget = budget
        self._refused_at = -1  # the holdings' gains when the head of the queue was last refused

    def append(self, req: Request) -> None:
        """Queue a new request."""
        self.waiting.append(req)

    def put_back(self, req: Request) -> None:
        """Queue a retracted request: it goes first."""
        self.waiting.appendleft(req)

    def remove(self, req: Request) -> bool:
        """Forget a request that was aborted; whether it was here."""
        if req is self.partial:
            self.partial = None
        elif req.status is Status.WAITING:
            self.waiting.remove(req)
            self._refused_at = -1
        else:
            return False
        return True

    def take(self, running: int, cut: Callable[[Chunk], None] = lambda chunk: None) -> list[Chunk]:
        """Cut the next step's chunks, beside ``running`` rows; empty where nothing can start.

        ``cut`` hears of each before the next request is admitted.
        """
        chunks: list[Chunk] = []
        left = self._budget
        while left >= PAGE_TOKENS and (req := self.partial or self._admit(running + len(chunks))):
            chunk = self._cut(req, left)
            left -= chunk.end - chunk.start
            chunks.append(chunk)
            cut(chunk)
        return chunks

    def _cut(self, req: Request, left: int) -> Chunk:
        """The request's next chunk, at most ``left`` tokens; whole pages unless it is the last."""
        start = req.kv_len
        last = req.n_tokens - start <= left
        end = req.n_tokens if last else start + left // PAGE_TOKENS * PAGE_TOKENS
        req.kv_len = end
        self.partial = None if last else req
        return Chunk(req, start, end, last)

    def _admit(self, running: int) -> Request | None:
        """Admit the head of the queue, or nobody.

        A refused head is asked again only after something came free: matching a long prompt every
        step is what would make a full engine slow.
        """
        if not self.waiting or self._refused_at == self._holdings.gains:
            return None
        req = self.waiting[0]
        if not self._holdings.acquire(req, headroom(req, running)):
            self._refused_at = self._holdings.gains
            return None
        self.waiting.popleft()
        req.move(Status.RUNNING)
        self._note(req)
        return req

    def _note(self, req: Request) -> None:
        """Account for an admission. Only the first one can hit a prefix that others computed: a
        retracted request finds its own pages again, which says nothing of the prefix cache.
        """
        events = self._holdings.events
        events.emit("admit", request=req.id, cached=req.kv_len, pages=len(req.pages))
        if req.output:
            events.count("retraction_hits", req.kv_len > 0)
            return
        req.cached_tokens = req.kv_len
        events.count("prefix_hits", req.kv_len > 0)
        events.count("host_hits", req.host_tokens > 0)
        events.count("prefix_hit_tokens", req.kv_len)
