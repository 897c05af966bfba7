"""The tensors that a step is given. One rule: a model sees these and the pools, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class PrefillInputs:
    """One chunk of one request: positions [start, start + T).

    ``tokens`` int64 [T]; ``slots`` int64 [T], the out_cache_loc of each; ``page_table`` int32 [W]
    of full pages, 0 where unused; ``req_slot`` the row of the request-addressed states. ``start``
    is a multiple of 256; so is the end, unless ``last``: then the next token is wanted.
    ``step_rows`` are the tokens of all chunks of its step, which decide how they are computed.
    """

    tokens: Tensor
    start: int
    slots: Tensor
    page_table: Tensor
    req_slot: int
    last: bool
    step_rows: int = 0


@dataclass(frozen=True)
class DecodeInputs:
    """One token a row, ``bs`` rows; static buffers when captured.

    ``tokens``, ``positions`` (0-based), ``out_cache_loc``, ``c4_out_loc``, ``c128_out_loc``,
    ``req_slots`` int64 [bs]; ``seq_lens`` int32 [bs], this token included; ``page_table`` int32
    [bs, W]; ``live`` bool [bs]. A padded row has seq_len 1, position 0, token 0, page table 0 and
    live False. ``c4_out_loc`` is the c4 slot (slot // 4) that the row completes, else 0;
    ``c128_out_loc`` likewise (slot // 128).
    """

    tokens: Tensor
    positions: Tensor
    seq_lens: Tensor
    out_cache_loc: Tensor
    c4_out_loc: Tensor
    c128_out_loc: Tensor
    page_table: Tensor
    req_slots: Tensor
    live: Tensor
