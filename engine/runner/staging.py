"""The staging of HiSparse: which request's latents are on their way to the host, or there.

One rule: a copy counts for the admission that it was made for; a request that was retracted is
staged anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from engine.request import Request
    from engine.runner.hot_buffer import HotBuffer
    from engine.streams import Copy, Streams


class HotStaging:
    """``Staging`` of one engine, over its hot buffer and its streams."""

    def __init__(self, hot: HotBuffer, streams: Streams) -> None:
        self.hot, self.streams = hot, streams
        # a request's page list is a new one at each admission
        self._copies: WeakKeyDictionary[Request, tuple[Copy, list[int]]] = WeakKeyDictionary()

    def stage(self, req: Request) -> None:
        """Start the copy of a prefilled request's latents."""
        self._copies[req] = self.hot.stage(req, self.streams), req.pages

    def ready(self, req: Request) -> bool:
        """Whether they have arrived; False for a request that was not staged yet."""
        if req not in self._copies:
            return False
        copy, pages = self._copies[req]
        return copy.done and pages is req.pages
