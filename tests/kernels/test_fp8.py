"""Bits are read as torch's own casts read them, NaN included."""

import pytest
import torch

from kernels import fp8
from kernels.store_index_k import index_scale

CODES = torch.arange(256, dtype=torch.uint8)[:, None]


def test_every_code_decodes_as_torch_casts_it() -> None:
    want = CODES.view(torch.float8_e4m3fn).float()
    got = fp8.patch_nan(fp8.decode_codes(CODES)) * fp8.CODE_UNIT
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.nan_to_num(0.0), want.nan_to_num(0.0))


@pytest.mark.parametrize("code", [0x7F, 0xFF])
def test_a_nan_code_is_found_among_others(code: int) -> None:
    codes = torch.full((63, 65), 0x7E, dtype=torch.uint8)
    assert not fp8.has_nan_code(codes)
    codes[62, 64] = code
    assert fp8.has_nan_code(codes)
    assert not fp8.has_nan_code(codes[:, :64])


def test_every_scale_is_a_power_of_two_and_the_last_is_nan() -> None:
    scale = fp8.decode_ue8m0(CODES[:, 0])
    assert torch.equal(scale[:255].double(), torch.pow(2.0, torch.arange(255).double() - 127))
    assert bool(scale[255].isnan())
    low = CODES[: fp8.LAST_FACTOR + 1, 0]
    assert torch.equal(fp8.code_factor(low), fp8.decode_ue8m0(low) * fp8.CODE_UNIT)


@pytest.mark.parametrize(("absmax", "power"), [(448.0, 0), (448.1, 1), (1.0, -8), (0.875, -9)])
def test_the_scale_is_the_smallest_that_fits(absmax: float, power: int) -> None:
    assert int(fp8.ue8m0_of(torch.tensor(absmax))) - 127 == power


@pytest.mark.parametrize("count", [1, 2, 15, 64, 127])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_nan_is_written_with_the_same_bits(count: int, sign: float) -> None:
    values = torch.full((count,), torch.nan).copysign(torch.tensor(sign))
    for given in (values, values.bfloat16(), values.bfloat16().float()):
        assert bool((fp8.encode_bf16(given) == fp8.BF16_NAN).all())
        assert bool((fp8.encode_e4m3(given.float()) == 0x7F).all())


@pytest.mark.gpu
def test_the_scale_of_a_key_has_the_same_bits_on_a_gpu(g: torch.Generator) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    key = torch.randn(4096, 128, generator=g)
    assert torch.equal(index_scale(key.cuda()).cpu(), index_scale(key))
