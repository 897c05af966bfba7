"""The request table on the device: page table and next input token of each request slot.

One rule: decode reads its input token from here, not from the host, so that a step can be
launched before the last one's tokens have been looked at (one-step-ahead scheduling).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.config import PAGE_TOKENS

if TYPE_CHECKING:
    from torch import Tensor

    from engine.config import EngineConfig
    from engine.request import Request


class RowTable:
    """``pages`` int32 [max_running + 1, W], ``next_token`` int64 [max_running + 1]; row 0 spare."""

    def __init__(self, config: EngineConfig) -> None:
        rows, width = config.max_running + 1, config.model.max_context // PAGE_TOKENS
        self.pages = torch.zeros(rows, width, dtype=torch.int32, device=config.device)
        self.next_token = torch.zeros(rows, dtype=torch.int64, device=config.device)
        nobody: list[int] = []
        self._held = [(nobody, 0)] * rows  # page list and how much of it the row shows

    def sync(self, req: Request) -> None:
        """Write the pages that a request gained since its row was last written.

        A request's page list grows in place and is a new list at each admission, so its identity
        tells whose row this is.
        """
        pages, shown = self._held[req.req_slot]
        if pages is req.pages and shown == len(pages):
            return
        row = self.pages[req.req_slot]
        row[: len(req.pages)] = torch.tensor(req.pages, dtype=torch.int32)
        row[len(req.pages) :] = 0
        self._held[req.req_slot] = (req.pages, len(req.pages))

    def row(self, req: Request) -> Tensor:
        """The page table of one request, int32 [W]."""
        self.sync(req)
        return self.pages[req.req_slot]
