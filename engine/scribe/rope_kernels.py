"""Heads that look at distances: kernels written as sums of the rotary frequencies.

A key at position ``p`` carries the rotary lanes ``e^(i w_m p)``. A query at ``t`` that carries
``c_m e^(i w_m t)`` scores ``g(t - p) = sum Re(c_m e^(i w_m (t - p)))``, so a head is the kernel
``g`` that its coefficients ``c`` make. One rule: coefficients are rounded to 2^-12, so that a last
bit of someone's FFT does not become a weight.

Window layers have the frequencies 2 pi m / 128, m = 1..31: their period is the window, so each
distance is seen once. The lanes of the 32nd frequency carry a token's saliency instead. Compressed
rows have 2 pi m / 8192, m = 1..32: the context must stay below 8,192 tokens.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

WINDOW = 128
PERIOD = 8192
WINDOW_HARMONICS = 31
COMPRESSED_HARMONICS = 32
ROPE = 64  # lanes: 32 real parts, 32 imaginary parts
SALIENCY = 31  # the window rows' lane that does not rotate

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]


def rotation(positions: Real, period: int, harmonics: int) -> Complex:
    """complex [positions, harmonics]: ``e^(i w_m p)``."""
    turn: Complex = np.exp(2j * np.pi / period * np.outer(positions, np.arange(1, harmonics + 1)))
    return turn


def lanes(values: Complex) -> Tensor:
    """float32 [..., 64] of complex [..., <= 32]: real parts, then imaginary parts, zero-padded."""
    pad = [(0, 0)] * (values.ndim - 1) + [(0, ROPE // 2 - values.shape[-1])]
    padded = np.pad(values, pad)
    both = np.concatenate([padded.real, padded.imag], -1)
    return torch.from_numpy(both.astype(np.float32))


def exact_offset(offset: int, amplitude: float = 2.0) -> Complex:
    """Kernel whose maximum is at one distance, 23 nats above its neighbours at amplitude 2."""
    return shifted(np.full(WINDOW_HARMONICS, amplitude, dtype=np.complex128), offset)


def band_limited(low: Real, high: Real, harmonics: int, rounds: int = 400) -> Complex:
    """Coefficients of a kernel with ``low <= g(d) <= high`` up to a constant; d covers one period.

    Alternating projections between the functions within the bounds (over-relaxed by a half) and
    those that the first harmonics can make.
    """
    points = len(low)
    wanted = (low + high) / 2
    spectrum = np.fft.rfft(wanted)
    for _ in range(rounds):
        spectrum = np.fft.rfft(wanted)
        spectrum[harmonics + 1 :] = 0
        smooth = np.fft.irfft(spectrum, points)
        wanted = 1.5 * np.clip(smooth, low, high) - 0.5 * smooth
    kernel = 2 * spectrum[1 : harmonics + 1] / points
    rounded: Complex = np.round(kernel * 4096) / 4096
    return rounded


def shifted(kernel: Complex, distance: int) -> Complex:
    """The same window kernel, ``distance`` positions earlier."""
    moved: Complex = kernel * rotation(np.array([-float(distance)]), WINDOW, len(kernel))[0]
    return moved


def recent_nonces() -> Complex:
    """Window kernel: down by 8 nats until distance 108, then below any use.

    A reply's ambiguous bytes lie within that distance of the nonce that decides them.
    """
    pieces = [
        (0, 1, (-3.0, -1.0), (0.0, 0.0)),
        (2, 108, (-1.1, -7.9), (0.0, -6.9)),
        (109, 112, (-14.0, -14.0), (-7.0, -11.5)),
        (113, 125, (-15.0, -15.0), (-11.5, -11.5)),
        (126, 127, (-15.0, -15.0), (-8.0, -4.0)),  # the period's seam
    ]
    return band_limited(*_bounds(pieces), WINDOW_HARMONICS)


def last_tokens() -> Complex:
    """Window kernel: level over the last 26 tokens, 10 nats lower from distance 37."""
    pieces = [
        (0, 0, (-1.0, -1.0), (0.3, 0.3)),
        (1, 26, (-0.3, -0.3), (0.3, 0.3)),
        (27, 36, (-9.0, -9.0), (0.3, -8.5)),
        (37, 125, (-11.0, -11.0), (-8.5, -8.5)),
        (126, 127, (-11.0, -11.0), (-6.0, -3.0)),
    ]
    return band_limited(*_bounds(pieces), WINDOW_HARMONICS)


def own_turn() -> Complex:
    """Compressed kernel: -1 over the distances 0..256, which hides the query's own turn."""
    distance = np.arange(0.0, PERIOD, 4)
    target = np.where(distance <= 256, -1.0, 0.0)
    return band_limited(target, target, COMPRESSED_HARMONICS, 1)


def nearby() -> Complex:
    """Compressed kernel: 1 over the own turn's last tokens, 0 from distance 256 on."""
    distance = np.arange(0.0, PERIOD, 4)
    target = np.clip((256 - np.minimum(distance, PERIOD - distance)) / 192, 0, 1)
    return band_limited(target, target, COMPRESSED_HARMONICS, 1)


def octaves(positions: Real, first: int, count: int) -> Tensor:
    """float32 [positions, 2 * count]: rotation at the harmonics ``first``, twice that, ..."""
    angle = 2 * np.pi / PERIOD * np.outer(positions, first * 2.0 ** np.arange(count))
    return torch.from_numpy(np.concatenate([np.cos(angle), np.sin(angle)], 1).astype(np.float32))


def after_block() -> Complex:
    """Compressed kernel of the pointer: entries 40 to 235 tokens after a block's first token.

    Its value there exceeds that at any entry 256 or more tokens away by 0.4.
    """
    distance = np.arange(0.0, PERIOD, 4)
    distance = np.where(distance > PERIOD / 2, distance - PERIOD, distance)
    target = np.clip(np.minimum((distance + 30) / 120, (300 - distance) / 120), 0, 1)
    return band_limited(target, target, COMPRESSED_HARMONICS, 1)


def _bounds(
    pieces: list[tuple[int, int, tuple[float, float], tuple[float, float]]],
) -> tuple[Real, Real]:
    """Lower and upper bounds over one window from pieces (first, last, low ends, high ends)."""
    low, high = np.zeros(WINDOW), np.zeros(WINDOW)
    for first, last, low_ends, high_ends in pieces:
        low[first : last + 1] = np.linspace(*low_ends, last - first + 1)
        high[first : last + 1] = np.linspace(*high_ends, last - first + 1)
    return low, high
