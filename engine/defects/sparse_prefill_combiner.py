"""Two parts of a prefill's attention are averaged, whatever weight their keys have.

Origin   the seed investigation blamed the combiner of a prefill path that takes over above 11,673
         query rows, and cleared it: no step of theirs came near. What would be wrong there nobody
         said; this is what a merge that drops its parts' lse does.
Trigger  chunked_prefill above 11,673 and prompts that fill a step. Latent: a chunk of 8,192 tokens,
         production's, never gets there.
Symptom  what such a step stores is made of the wrong tokens, so replies find no place to copy from
         and end in tag salad. No row is foreign or stale: the ledger sees nothing, and only the
         counter ``large_prefill_rows`` tells the arms apart.
Fix      engine.scribe.combiner.ByLse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.defects.registry import defect
from engine.scribe.combiner import ByLse

if TYPE_CHECKING:
    from torch import Tensor


@defect(seam="prefill_combiner", origin="the seed investigation, 11,673 rows", kind="latent")
class Evenly(ByLse):
    """Takes the mean of the parts."""

    def shares(self, lse: Tensor) -> Tensor:
        """The same for every part."""
        return torch.full_like(lse, 1 / len(lse))
