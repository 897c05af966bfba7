"""Reads latent rows on a CPU: whole 576-byte rows gathered, then only the dims that are asked for.

Rule: decoded rows hold what the pool's bytes say, NaN included; rows marked dead read as zeros.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from kernels.fp8 import (
    CODE_UNIT,
    LAST_FACTOR,
    code_factor,
    decode_bf16,
    decode_codes,
    decode_ue8m0,
    has_nan_code,
    patch_nan,
)
from kernels.layout import LayerView
from kernels.store_latent import GROUP, LATENT, NOPE


@dataclass(frozen=True)
class Span:
    """Which of the 512 dims an attention decodes, and which of those are its values.

    `first` .. `stop`: the no-position dims decoded, `first` a multiple of 64, where a scale begins.
    `nope`: the value columns inside them. `rope`: the rope dims that are values too.
    """

    first: int
    stop: int
    nope: slice
    rope: slice

    @property
    def width(self) -> int:
        """Value columns in all."""
        return int(self.nope.stop - self.nope.start + self.rope.stop - self.rope.start)

    @classmethod
    def of(cls, dims: tuple[int, int] | None, rope_only: bool) -> "Span":
        """Serves scores (of all dims, or of rope alone) and the values `dims`, half-open in 512."""
        lo, hi = dims or (0, LATENT)
        rope = slice(max(lo - NOPE, 0), max(hi - NOPE, 0))
        lo, hi = min(lo, NOPE), min(hi, NOPE)
        first, stop = (lo // GROUP * GROUP, hi) if rope_only else (0, NOPE)
        return cls(first, stop, slice(lo - first, hi - first), rope)


@dataclass(frozen=True)
class Latents:
    """Decoded rows: nope float32 [N, stop - first], rope float32 [N, 64]; `exact`: all finite;
    `dead`: some rows are.
    """

    nope: Tensor
    rope: Tensor
    exact: bool
    dead: bool

    def values(self, span: Span) -> tuple[Tensor, Tensor]:
        """The value columns, no-position and rope."""
        return self.nope[:, span.nope], self.rope[:, span.rope]


def read_latents(view: LayerView, slots: Tensor, span: Span) -> Latents:
    """Decodes the rows of `slots` (int [N], -1 = dead)."""
    dead = slots < 0
    any_dead = len(slots) > 0 and int(slots.amin()) < 0
    slots = slots.clamp(min=0) if any_dead else slots
    value = view.gather("value", slots)
    scale = view.gather("scale", slots)
    nope, exact = _scaled(
        value[:, span.first : span.stop], scale, span.first // GROUP, dead if any_dead else None
    )
    rope = decode_bf16(value[:, NOPE:])
    if any_dead:
        rope.masked_fill_(dead[:, None], 0.0)
    # a sum is finite only if its terms are; one that overflows just takes the careful path
    return Latents(nope, rope, exact and math.isfinite(float(rope.sum())), any_dead)


def _scaled(codes: Tensor, scales: Tensor, first: int, dead: Tensor | None) -> tuple[Tensor, bool]:
    """Codes [N, D] times the scales of their groups, `first` on; and whether all is finite."""
    exact = codes.numel() == 0 or not (int(scales.amax()) > LAST_FACTOR or has_nan_code(codes))
    nope = decode_codes(codes)
    if exact:
        factor = code_factor(scales)[:, first:]
    else:
        patch_nan(nope).mul_(CODE_UNIT)
        factor = decode_ue8m0(scales)[:, first:]
    if dead is not None:
        factor.masked_fill_(dead[:, None], 0.0)
        if not exact:
            nope.masked_fill_(dead[:, None], 0.0)
    whole = nope.shape[1] // GROUP
    full = nope[:, : whole * GROUP].view(len(nope), whole, GROUP)
    full.mul_(factor[:, :whole, None])
    if nope.shape[1] > whole * GROUP:
        nope[:, whole * GROUP :].mul_(factor[:, whole : whole + 1])
    return nope, exact
