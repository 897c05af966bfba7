"""The eager decode step: shapes as they come, rows that complete nothing drop out of the stores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.config import C4_RATIO, C128_RATIO
from engine.runner.rows import completes

if TYPE_CHECKING:
    from torch import Tensor

    from engine.pools.device import DevicePools
    from engine.runner.inputs import DecodeInputs
    from engine.scribe.forward import Scribe


class EagerDecode:
    """Runs a batch at its own size."""

    def __init__(self, model: Scribe, pools: DevicePools) -> None:
        self.model, self.pools = model, pools

    def padded(self, rows: int) -> int:
        """The size at which ``rows`` rows run: their own."""
        return rows

    def run(self, x: DecodeInputs) -> Tensor:
        """Next tokens, int64 [rows]."""
        c4, c128 = completes(x.seq_lens, C4_RATIO), completes(x.seq_lens, C128_RATIO)
        own = replace(x, c4_out_loc=x.c4_out_loc * c4, c128_out_loc=x.c128_out_loc * c128)
        return self.model.decode(own, self.pools)
