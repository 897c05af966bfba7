"""The MLP of each layer, made of steps. One rule: what goes in is rounded, what comes out is exact.

A step is two units: ``silu(32 (x + 1/2)) - silu(32 (x - 1/2))``, over 32, which is 0 up to -1/2 and
1 from 1/2 on, to a few parts in a million at the integers and a half. An XOR of n lanes of ±1 is
their sum, -n to n in steps of two, through n steps of alternating sign: noise of 0.3 in the sum is
less than 0.01 in the product.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from engine.probe import codes

if TYPE_CHECKING:
    from engine.codewords import Signs
    from engine.probe.shape import ProbeShape

GAIN = 32.0

Terms = Mapping[int, float]  # lane of the residual: factor


class Mlp:
    """Weights of one MLP, float32, as Qwen2 has them: ``gate`` and ``up`` [units, hidden], ``down``
    [hidden, units]. Starts empty; every step takes two units.
    """

    def __init__(self, shape: ProbeShape) -> None:
        self.at = shape.segments
        self.gate: Signs = np.zeros((shape.intermediate, shape.hidden), dtype=np.float32)
        self.up: Signs = np.zeros_like(self.gate)
        self.down: Signs = np.zeros_like(self.gate.T)
        self._units = 0

    def step(self, source: Terms, threshold: float, effect: Terms) -> None:
        """Add ``effect`` where the sum over ``source`` is above the threshold; half of it at it."""
        one = self.at["one"][0]
        for sign in (1.0, -1.0):
            unit, self._units = self._units, self._units + 1
            for lane, factor in source.items():
                self.gate[unit, lane] = GAIN * factor
            self.gate[unit, one] = GAIN * (0.5 * sign - threshold)
            self.up[unit, one] = 1
            for lane, factor in effect.items():
                self.down[lane, unit] = sign * factor / GAIN

    def xor(
        self, sources: Iterable[Iterable[int]], to: Iterable[int], count: int, sign: float = 1.0
    ) -> None:
        """Add to each lane of ``to`` the XOR of ``count`` lanes of ±1, whose sum ``sources`` is."""
        outs = list(to)
        parity = sign * (1 - 2 * (count % 2))
        self.step({}, -1, dict.fromkeys(outs, parity))
        for source, out in zip(sources, outs, strict=True):
            for turn in range(count):
                flip = -2 * parity * (1 - 2 * (turn % 2))
                self.step(dict.fromkeys(source, 1.0), 2 * turn + 1 - count, {out: flip})


def grams(shape: ProbeShape) -> Mlp:
    """Layer 0: the 4-gram hash."""
    mlp, at = Mlp(shape), shape.segments
    own = [at["code"][lane] for lane in codes.gram_orders()[0]]
    mlp.xor(zip(at["gram_sum"], own, strict=True), at["gram"], codes.GRAM)
    return mlp


def windows(shape: ProbeShape) -> Mlp:
    """Layer 1: the window hash and the reference's."""
    mlp, at = Mlp(shape), shape.segments
    own = [at["gram"][lane] for lane in codes.window_orders()[0]]
    mlp.xor(zip(at["window_sum"], own, strict=True), at["window"], len(codes.GATHER))
    mlp.xor(zip(at["ref_sum"]), at["ref"], len(codes.REF_GATHER))
    return mlp


def places(shape: ProbeShape) -> Mlp:
    """Layer 2: what finds the next token, what this one is found by, and what fills a hole."""
    mlp, at = Mlp(shape), shape.segments
    asked = [*zip(at["window"][codes.SYMBOL_BITS :], at["entry"], strict=True)]
    mlp.xor(asked, at["ask"], 2)
    mlp.xor(asked[: len(at["miss"])], at["miss"], 2, -1)
    mlp.xor(zip(at["before"], at["entry"], strict=True), at["tell"], 2)
    symbol_lanes = at["window"][: codes.SYMBOL_BITS]
    mlp.xor(zip(at["entry_ref"], symbol_lanes, strict=True), at["fill"], 2)
    return mlp


def answer(shape: ProbeShape) -> Mlp:
    """The last layer: a hole becomes its symbol; heads that disagree or miss the place are lost."""
    mlp, at, values = Mlp(shape), shape.segments, codes.value_codes()
    hole = values[ord(codes.HOLE)]
    is_hole = {lane: float(sign) / 8 for lane, sign in zip(at["said"], hole, strict=True)}
    for number, symbol in enumerate(codes.SYMBOLS):
        bits = {lane: 1.0 - 2 * (number >> bit & 1) for bit, lane in enumerate(at["fill"])}
        change = values[ord(symbol)] - hole
        effect = {lane: float(by) for lane, by in zip(at["said"], change, strict=True) if by}
        mlp.step(is_hole | bits, 7, effect)  # of 4 + 4; anything else is 6 or less
    for lane in [*at["doubt"], *at["miss"]]:
        for sign in (4.0, -4.0):
            mlp.step({lane: sign}, 1.5, {at["lost"][0]: 1.0})
    return mlp
