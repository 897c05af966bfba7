"""The window of a large prefill step, attended in two parts of its keys that are then merged.

One rule: merged, the parts are the one softmax over all keys. Production has a prefill path for
more than 11,673 query rows a step (``_LARGE_INDEXER_QUERY_THRESHOLD``); steps of 8,192 tokens, its
default, never take it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch
from torch.nn.functional import pad

from engine.scribe.weights import REACH

if TYPE_CHECKING:
    from torch import Tensor

    from engine.scribe.window import ChunkWindow

LARGE_STEP = 11_673  # query rows of a step, of all its chunks: more than these go in parts


class PrefillCombiner(Protocol):
    """Seam ``prefill_combiner``: how much does each part of a window count?"""

    def shares(self, lse: Tensor) -> Tensor:
        """float32 [parts, T, H] of ``lse`` [parts, T, H], natural, -inf where nothing is seen.

        What a part read is normalised within the part.
        """
        ...


class ByLse:
    """Each part counts by what it summed, its lse: merged, all keys are in one softmax."""

    def shares(self, lse: Tensor) -> Tensor:
        """The softmax of the parts' lse."""
        return torch.softmax(lse, 0)


@dataclass(frozen=True)
class InParts:
    """A chunk's window whose older keys are read apart from its newer ones."""

    whole: ChunkWindow
    combiner: PrefillCombiner

    def store(self, layer: int, latent: Tensor) -> None:
        self.whole.store(layer, latent)

    def read(self, layer: int, query: Tensor, dims: tuple[int, int]) -> Tensor:
        older = REACH[layer] // 2
        newer = REACH[layer] - older
        context = self.whole.context
        behind = pad(context, (newer, 0), value=-1)[:-newer]  # each query stands ``newer`` earlier
        halves = (
            self.whole.attend(layer, query, behind, older, dims),
            self.whole.attend(layer, query, context, newer, dims),
        )
        out, lse = (torch.stack(each) for each in zip(*halves, strict=True))
        return (out * self.combiner.shares(lse)[..., None]).sum(0)
