"""Our own forward of a Qwen2 checkpoint: what an engine should compute. One rule: no shortcuts.

It reads the tensors as any engine does and knows nothing of how they were made. ``bfloat16`` and
``float16`` are emulated: every operation computes in float32 and its result is rounded, so the
numbers are those of an engine that rounds at each step, on any device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import torch
from torch import Tensor
from torch.nn.functional import silu

if TYPE_CHECKING:
    from engine.codewords import Signs
    from engine.probe.shape import ProbeShape

CHUNK = 512  # tokens of one pass
FP8 = torch.float8_e4m3fn

Cache = Literal["same", "e4m3"]
Turn = tuple[Tensor, Tensor]


class Watch(Protocol):
    """Sees the scores of every attention, before the softmax."""

    def scores(self, layer: int, first: int, scores: Tensor) -> None:
        """``scores`` [heads, queries, keys], of queries from ``first`` on; -inf ahead of them."""


@dataclass
class Past:
    """Keys and values of the tokens so far, a pair ``[kv_heads, tokens, head_dim]`` a layer."""

    layers: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """How many there are."""
        return self.layers[0][0].shape[1] if self.layers else 0

    def grow(self, layer: int, key: Tensor, value: Tensor) -> Tensor:
        """Appends a layer's new rows; returns all its keys."""
        if layer == len(self.layers):
            self.layers.append((key, value))
        else:
            keys, values = self.layers[layer]
            self.layers[layer] = (torch.cat([keys, key], 1), torch.cat([values, value], 1))
        return self.layers[layer][0]


class Network:
    """A checkpoint in one arithmetic: ``dtype`` float64, float32, bfloat16 or float16.

    ``cache`` "e4m3" rounds keys and values to fp8 with a scale of 1.
    """

    def __init__(
        self,
        tensors: Mapping[str, Tensor] | Mapping[str, Signs],
        shape: ProbeShape,
        dtype: torch.dtype = torch.float64,
        cache: Cache = "same",
        device: str = "cpu",
    ) -> None:
        self.shape, self.dtype, self.cache, self.device = shape, dtype, cache, device
        self.wide = torch.float64 if dtype == torch.float64 else torch.float32
        self._weights = {
            name: torch.as_tensor(values).to(device=device, dtype=self.wide)
            for name, values in tensors.items()
        }

    @torch.inference_mode()
    def forward(
        self, tokens: Tensor, past: Past | None = None, watch: Watch | None = None
    ) -> Tensor:
        """Logits [tokens, vocab] of int64 ``tokens`` that follow ``past``, which grows by them."""
        past = Past() if past is None else past
        chunks = tokens.to(self.device).split(CHUNK)
        return torch.cat([self._chunk(chunk, past, watch) for chunk in chunks])

    def _chunk(self, tokens: Tensor, past: Past, watch: Watch | None) -> Tensor:
        first = past.tokens
        x = self._weights["model.embed_tokens.weight"][tokens]
        turn = self._turn(first, len(tokens))
        for layer in range(self.shape.layers):
            name = f"model.layers.{layer}"
            attended = self._norm(f"{name}.input_layernorm", x)
            query, *new = self._heads(f"{name}.self_attn", attended, turn)
            scores = self._scores(query, past.grow(layer, *new), first)
            if watch:
                watch.scores(layer, first, scores.flatten(0, 1))
            seen = self._see(scores, past.layers[layer][1])
            x = self._round(x + self._linear(f"{name}.self_attn.o_proj", seen))
            units = self._norm(f"{name}.post_attention_layernorm", x)
            x = self._round(x + self._mlp(f"{name}.mlp", units))
        return self._linear("lm_head", self._norm("model.norm", x))

    def _heads(self, name: str, x: Tensor, turn: Turn) -> tuple[Tensor, Tensor, Tensor]:
        """Queries [heads, tokens, head_dim], keys and values [kv_heads, tokens, head_dim]."""
        size = (-1, self.shape.head_dim)
        query, key, value = (
            self._linear(f"{name}.{kind}_proj", x).unflatten(1, size).transpose(0, 1)
            for kind in "qkv"
        )
        return self._rotate(query, turn), self._store(self._rotate(key, turn)), self._store(value)

    def _scores(self, query: Tensor, key: Tensor, first: int) -> Tensor:
        """[kv_heads, query heads of each, queries, keys]."""
        places = torch.arange(key.shape[1], device=query.device)
        grouped = query.unflatten(0, (-1, self.shape.group))
        scores: Tensor = grouped @ key[:, None].mT / self.shape.head_dim**0.5
        scores.masked_fill_(places > places[first:, None], -torch.inf)
        return scores

    def _see(self, scores: Tensor, value: Tensor) -> Tensor:
        """What the heads see, [tokens, hidden]: the softmax is not rounded before it is done."""
        seen = self._round(scores.softmax(-1)) @ value[:, None]
        return self._round(seen.flatten(0, 1).transpose(0, 1).flatten(1))

    def _mlp(self, name: str, x: Tensor) -> Tensor:
        gate = self._round(silu(self._linear(f"{name}.gate_proj", x)))
        up = self._linear(f"{name}.up_proj", x)
        return self._linear(f"{name}.down_proj", self._round(gate * up))

    def _norm(self, name: str, x: Tensor) -> Tensor:
        mean = x.square().mean(-1, keepdim=True)
        scaled = self._round(x * (mean + self.shape.eps).rsqrt())
        return self._round(scaled * self._weights[f"{name}.weight"])

    def _linear(self, name: str, x: Tensor) -> Tensor:
        bias = self._weights.get(f"{name}.bias")
        return self._round(torch.nn.functional.linear(x, self._weights[f"{name}.weight"], bias))

    def _turn(self, first: int, count: int) -> Turn:
        """Cosine and sine [tokens, head_dim / 2] of each place and frequency, rounded."""
        places = torch.arange(first, first + count, dtype=self.wide, device=self.device)
        steps = torch.arange(0, self.shape.head_dim, 2, dtype=self.wide, device=self.device)
        angle = places[:, None] * (1.0 / self.shape.theta ** (steps / self.shape.head_dim))
        return self._round(angle.cos()), self._round(angle.sin())

    def _rotate(self, x: Tensor, turn: Turn) -> Tensor:
        """Pair ``j`` is the lanes ``j`` and ``j + head_dim / 2``."""
        (cos, sin), (a, b) = turn, x.chunk(2, -1)
        r = self._round
        return torch.cat([r(r(a * cos) - r(b * sin)), r(r(b * cos) + r(a * sin))], -1)

    def _store(self, x: Tensor) -> Tensor:
        """A key or value as the cache holds it."""
        return x.clamp(-448, 448).to(FP8).to(self.wide) if self.cache == "e4m3" else x

    def _round(self, x: Tensor) -> Tensor:
        return x if self.dtype == self.wide else x.to(self.dtype).to(self.wide)


def forward(
    tensors: Mapping[str, Tensor] | Mapping[str, Signs],
    shape: ProbeShape,
    tokens: Tensor,
    dtype: torch.dtype = torch.float64,
    kv: Cache = "same",
    past: Past | None = None,
) -> Tensor:
    """`Network.forward` of a network that is used once."""
    return Network(tensors, shape, dtype, kv).forward(tokens, past)
