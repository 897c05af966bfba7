"""How far from wrong a forward was: the least gap of each kind of decision. One rule: in nats.

A reply is exact as long as every decision is; a margin says what numeric noise it would take. A
margin below 0 is a wrong decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.probe.attention import looks
from engine.probe.codes import HOLE, SYMBOLS
from engine.probe.kernels import NEAR
from engine.probe.shape import FIXED_LAYERS, ProbeShape
from engine.text.tokenizer import ASSISTANT

if TYPE_CHECKING:
    from engine.probe.forward import Network


@dataclass
class Margins:
    """The least over a forward: a row that a head must see against the best other.

    ``offset`` heads that look a distance back, ``anchor`` those that look for the assistant's
    token, ``copy`` those that look for the next token, against rows of another token, ``symbol``
    the same, of a filled hole against a hole, ``logit`` the right token against any other.
    """

    offset: float = inf
    anchor: float = inf
    copy: float = inf
    symbol: float = inf
    logit: float = inf


@dataclass(frozen=True)
class Forced:
    """What a forward over known replies shows: the places of ``wrong`` tokens, and the margins."""

    wrong: list[int]
    logits: Tensor
    margins: Margins


def force(network: Network, ids: Sequence[int], said: Sequence[int]) -> Forced:
    """One forward over a conversation with its due replies, whose tokens are at ``said``.

    As long as nothing is wrong, this is what greedy decoding says; the first wrong token is where
    decoding would have left it.
    """
    watch = MarginWatch(network.shape, ids, said)
    logits = network.forward(torch.tensor(ids), watch=watch)
    return Forced(watch.logits(logits), logits, watch.margins)


class MarginWatch:
    """Collects the margins of one forward from its first token on.

    ``ids`` are its tokens, ``said`` the places of those that the model should say.
    """

    def __init__(self, shape: ProbeShape, ids: Sequence[int], said: Sequence[int]) -> None:
        self.margins = Margins()
        self._shape, self._ids = shape, torch.tensor(ids)
        self._anchors = _last_anchors(ids)
        self._asking = torch.zeros(len(ids), dtype=torch.bool)
        self._asking[torch.tensor(said) - 1] = True
        self._filled = torch.isin(self._ids, torch.tensor([ord(symbol) for symbol in SYMBOLS]))

    def scores(self, layer: int, first: int, scores: Tensor) -> None:
        """As `engine.probe.forward.Watch` has it."""
        scores = scores.cpu()
        if layer >= FIXED_LAYERS:
            self._copy(first, scores[:: self._shape.group])
            return
        for head, read in looks(self._shape, layer).items():
            self._look(first, scores[head], read.offset)

    def logits(self, logits: Tensor) -> list[int]:
        """Where, among the tokens that should be said, another one is; notes the least gap."""
        at = self._asking.nonzero()[:, 0]
        rows, right = logits.cpu()[at], self._ids[at + 1, None]
        gaps = rows.gather(1, right) - rows.scatter(1, right, -inf).amax(1, keepdim=True)
        self.margins.logit = min(self.margins.logit, float(gaps.min()))
        return [int(place) + 1 for place in at[gaps[:, 0] <= 0]]

    def _look(self, first: int, scores: Tensor, offset: int | None) -> None:
        places = torch.arange(first, first + len(scores))
        target = self._anchors[places] if offset is None else places - offset
        due = (target >= 0) & ((places - target <= NEAR) if offset is None else True)
        if not due.any():
            return
        rows, right = scores[due], target[due, None]
        gaps = rows.gather(1, right)[:, 0] - rows.scatter(1, right, -inf).amax(1)
        kind = "anchor" if offset is None else "offset"
        setattr(self.margins, kind, min(getattr(self.margins, kind), float(gaps.min())))

    def _copy(self, first: int, scores: Tensor) -> None:
        """``scores`` [kv_heads, queries, keys] of the heads that copy."""
        asking = self._asking[first : first + scores.shape[1]]
        if not asking.any():
            return
        rows, keys = scores[:, asking], self._ids[: scores.shape[2]]
        best, at = rows.max(-1, keepdim=True)
        other = keys != keys[at]
        from_hole = (keys == ord(HOLE)) & self._filled[at]
        copy = best[..., 0] - rows.masked_fill(~other | from_hole, -inf).amax(-1)
        symbol = best[..., 0] - rows.masked_fill(~from_hole, -inf).amax(-1)
        self.margins.copy = min(self.margins.copy, float(copy.min()))
        self.margins.symbol = min(self.margins.symbol, float(symbol.min()))


def _last_anchors(ids: Sequence[int]) -> Tensor:
    """int64 [tokens]: the last assistant's token up to each place, -1 before the first."""
    found, last = [], -1
    for place, token in enumerate(ids):
        last = place if token == ASSISTANT else last
        found.append(last)
    return torch.tensor(found)
