"""The offset that wraps, as plain numbers and as a kernel computes it."""

import pytest
import torch

from kernels.defects import int32_logits_offset
from kernels.defects.int32_logits_offset import row_offset, row_offsets_triton

ROWS = (0, 1, 63, 64, 8_191, 8_192, 8_193, 65_535)
WIDTHS = (2_048, 131_072, 262_144, 33_554_432, 1 << 30)


@pytest.fixture(
    params=[
        pytest.param("cpu", marks=pytest.mark.kernels),
        pytest.param("cuda", marks=pytest.mark.gpu),
    ]
)
def device(request: pytest.FixtureRequest) -> str:
    """Where a kernel can run: interpreted, or compiled."""
    interpreted = type(int32_logits_offset._kernel).__name__ == "InterpretedFunction"
    if request.param == "cpu" and not interpreted:
        pytest.skip("needs TRITON_INTERPRET=1")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    return str(request.param)


def test_the_limit_is_8192_rows_of_262_144_entries() -> None:
    assert row_offset(8_191, 262_144) == 8_191 * 262_144
    assert row_offset(8_192, 262_144) == -(1 << 31)
    assert row_offset(16_384, 262_144) == 0
    assert row_offset(8_192, 131_072) == 1 << 30  # half of it at a context of 512k


def test_fewer_bits_wrap_alike_at_a_smaller_product() -> None:
    assert [row_offset(row, 2_048, bits=16) for row in (15, 16, 32)] == [15 * 2_048, -(1 << 15), 0]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_kernel_wraps_in_int32_and_not_in_int64(device: str, width: int) -> None:
    rows = torch.tensor(ROWS, dtype=torch.int32, device=device)
    narrow, wide = (row_offsets_triton(rows, width, bits).tolist() for bits in (32, 64))
    assert narrow == [row_offset(row, width) for row in ROWS]
    assert wide == [row * width for row in ROWS]
