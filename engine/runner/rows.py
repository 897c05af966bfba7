"""From requests to the tensors of a decode step, before anything is padded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.config import C4_RATIO, C128_RATIO
from engine.runner.inputs import DecodeInputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.request import Request
    from engine.runner.row_table import RowTable


def decode_rows(reqs: Sequence[Request], seq_lens: Sequence[int], table: RowTable) -> DecodeInputs:
    """One row a request, in batch order; ``seq_lens`` count the row's own token.

    ``c4_out_loc`` and ``c128_out_loc`` are set on every row, also where nothing is completed:
    who may not write is settled by the caller.
    """
    for req in reqs:
        table.sync(req)
    device = table.pages.device
    positions = [length - 1 for length in seq_lens]
    slots = [req.slot(at) for req, at in zip(reqs, positions, strict=True)]
    host = torch.tensor([[req.req_slot for req in reqs], positions, slots], dtype=torch.int64)
    req_slots, position, slot = host.to(device)
    return DecodeInputs(
        tokens=table.next_token[req_slots],
        positions=position,
        seq_lens=(position + 1).to(torch.int32),
        out_cache_loc=slot,
        c4_out_loc=slot // C4_RATIO,
        c128_out_loc=slot // C128_RATIO,
        page_table=table.pages[req_slots],
        req_slots=req_slots,
        live=torch.ones(len(reqs), dtype=torch.bool, device=device),
    )


def completes(seq_lens: Tensor, ratio: int) -> Tensor:
    """Which rows finish a compressed entry with this token: bool [bs]."""
    return seq_lens % ratio == 0
