"""The way of a finished prompt to the decode batch when its latents live on the host (HiSparse)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engine.request import Request


class Staging(Protocol):
    """Sends the latents of a prefilled request to the host; it decodes once they are there."""

    def stage(self, req: Request) -> None:
        """Start the copy, after the request's last prefill step was processed."""

    def ready(self, req: Request) -> bool:
        """Whether the copy has arrived; False for a request that was not staged yet."""
