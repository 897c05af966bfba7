"""What a scheduler tells whoever sends its requests' KV to another engine, or awaits it from there.

One rule: the pages of a request whose KV is on its way are not released, whatever became of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.request import Request
    from engine.sched.batch import PrefillBatch


class Transfers(Protocol):
    """The sender of a prefill engine, or the receiver of a decode engine."""

    def computed(self, batch: PrefillBatch, tokens: Sequence[int]) -> None:
        """A prefill step has run: ``tokens[i]`` is the first one of ``batch.sampled[i]``."""

    def drained(self, req: Request) -> bool:
        """Whether no write out of, or into, an ended request's pages may still come."""


class NoTransfers:
    """An engine that serves alone."""

    def computed(self, batch: PrefillBatch, tokens: Sequence[int]) -> None:
        """Nobody waits for it."""

    def drained(self, req: Request) -> bool:
        return True
