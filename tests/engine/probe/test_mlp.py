"""Steps and XORs that are exact for what is near an integer."""

from __future__ import annotations

import torch
from torch.nn.functional import silu

from engine.probe.mlp import Mlp
from engine.probe.shape import ProbeShape

SHAPE = ProbeShape()
AT = SHAPE.segments


def out(mlp: Mlp, lanes: dict[int, float]) -> torch.Tensor:
    """What an MLP adds to each lane."""
    x = torch.zeros(SHAPE.hidden)
    x[AT["one"][0]] = 1
    for lane, value in lanes.items():
        x[lane] = value
    gate, up, down = (torch.from_numpy(part) for part in (mlp.gate, mlp.up, mlp.down))
    return down @ (silu(gate @ x) * (up @ x))


def test_a_step_is_0_below_its_threshold_and_1_above() -> None:
    mlp = Mlp(SHAPE)
    mlp.step({0: 1.0, 1: -1.0}, 2.5, {9: 3.0})
    for value, added in ((-5.0, 0.0), (2.0, 0.0), (2.5, 1.5), (3.0, 3.0), (8.0, 3.0)):
        assert abs(out(mlp, {0: value + 1, 1: 1.0})[9] - added) < 1e-4


def test_the_xor_of_a_sum_is_the_product_of_its_signs_whatever_the_noise() -> None:
    for count in (2, 4, 6):
        mlp = Mlp(SHAPE)
        mlp.xor([[0]], [9], count)
        for minus in range(count + 1):
            for noise in (-0.3, 0.0, 0.3):
                added = out(mlp, {0: count - 2 * minus + noise})[9]
                assert abs(added - (-1) ** minus) < 0.01
