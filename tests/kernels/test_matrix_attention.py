"""How many programs share a row's latents."""

import pytest

from kernels.matrix_attention import AttentionPlan, plan_for


@pytest.mark.parametrize(
    ("rows", "heads", "latents", "chunk"),
    [
        (64, 64, 512, 256),  # 128 programs of an H200's 132 multiprocessors
        (128, 64, 512, 512),
        (512, 64, 512, 512),
        (64, 128, 512, 512),
        (1, 64, 512, 64),
        (3, 16, 20, 64),
    ],
)
def test_a_row_is_split_while_multiprocessors_are_idle(
    rows: int, heads: int, latents: int, chunk: int
) -> None:
    assert plan_for(rows, heads, latents).chunk == chunk


@pytest.mark.parametrize("chunk", [-64, 0, 32, 96])
def test_a_chunk_that_is_not_of_whole_blocks_is_refused(chunk: int) -> None:
    with pytest.raises(ValueError, match=f"a chunk of {chunk} latents; one has a multiple of 64"):
        AttentionPlan(chunk)
