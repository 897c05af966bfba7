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
    """``pages`` int32 [max_running + 1, W], ``next_token`` int64 [max_running + 1]; row 0 unused."""

    def __init__(self, config: EngineConfig) -> None:
        rows, width = config.max_running + 1, config.model.max_context // PAGE_TOKENS
        self.pages = torch.zeros(rows, width, dtype=torch.int32, device=config.device)
        self.next_token = torch.zeros(rows, dtype=torch.int64, device=config.device)
        self._held: list[tuple[int, int]] = [(0, 0)] * rows  # (request, pages written) of a row

    def sync(self, req: Request) -> None:
        """Write the pages that a request gained since its row was last written."""
        seen, known = self._held[req.req_slot]
        known = known if seen == req.id else 0
        if known == len(req.pages) and seen == req.id:
            return
        row = self.pages[req.req_slot]
        row[: len(req.pages)] = torch.tensor(req.pages, dtype=torch.int32)
        row[len(req.pages) :] = 0
        self._held[req.req_slot] = (req.id, len(req.pages))

    def forget(self, req_slot: int) -> None:
        """A request left the row: the next one writes it anew, even with equal page counts."""
        self._held[req_slot] = (0, 0)

    def row(self, req: Request) -> Tensor:
        """The page table of one request, int32 [W]."""
        self.sync(req)
        return self.pages[req.req_slot]
