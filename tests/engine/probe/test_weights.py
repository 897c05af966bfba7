"""The numbers of the checkpoint: the same on every machine, and exact in every dtype."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch

from engine.probe.shape import ProbeShape
from engine.probe.weights import NORM, four_squares, tensors, to_bfloat16
from tests.engine.probe.world import tensors as kept

SMALL = ProbeShape(heads=12, kv_heads=1, head_dim=64)
DIGESTS = {
    ProbeShape(): "5527c757e227b2dbc887ad243374aedb6d906cc2f5ce92d54d134a4a9595306f",
    SMALL: "13d575904ffdbdac4deec6e1008a829974cda5e393957daedd323b8f89611777",
}


# Whoever means to change these has another form to tell: FORM in lab/probing/files.py.
@pytest.mark.parametrize("shape", DIGESTS)
def test_equal_options_give_equal_bytes_on_every_machine(shape: ProbeShape) -> None:
    digest = hashlib.sha256()
    for name, values in tensors(shape):
        digest.update(name.encode())
        digest.update(values.astype("<f4").tobytes())
    assert digest.hexdigest() == DIGESTS[shape]


def test_the_dtype_and_the_context_change_no_number() -> None:
    other = dict(tensors(ProbeShape(dtype="float32", context=4096)))
    assert all(np.array_equal(values, other[name]) for name, values in kept(ProbeShape()).items())


def test_every_number_survives_bfloat16() -> None:
    for values in kept(ProbeShape()).values():
        assert np.array_equal(torch.from_numpy(values).bfloat16().float().numpy(), values)


def test_rounding_to_bfloat16_is_torch_s() -> None:
    values = np.random.RandomState(0).standard_normal(10000).astype(np.float32) * 300
    assert np.array_equal(to_bfloat16(values), torch.from_numpy(values).bfloat16().float().numpy())


def test_no_number_is_beyond_float16_or_lost_in_it() -> None:
    for values in kept(ProbeShape()).values():
        half = values.astype(np.float16).astype(np.float32)
        assert np.abs(values - half).max() < 1e-3


def test_the_default_checkpoint_is_below_50_million_bytes() -> None:
    assert sum(values.size for values in kept(ProbeShape()).values()) * 2 < 50e6


@pytest.mark.parametrize("total", [704, 768, 896, 1024, 1152, 2048, 4096])
def test_the_residual_s_constants_make_its_mean_square_what_the_norm_s_weight_is(
    total: int,
) -> None:
    constants = np.array(four_squares(total)) * NORM
    assert (constants**2).sum() / total == NORM**2
