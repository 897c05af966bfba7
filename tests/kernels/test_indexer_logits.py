"""Logits are the weighted sum of rectified dots, -inf where a row has ended."""

import pytest
import torch

from kernels.cases import INDEX_K, filled, index_layout, page_table
from kernels.ops import Ops
from tests.kernels import restated

SHAPES = [(1, 1, 0), (7, 1, 3), (3, 3, 1), (5, 1, 5)]


@pytest.mark.parametrize("dtype", INDEX_K)
@pytest.mark.parametrize(("rows", "heads", "shared"), SHAPES)
def test_logits_match_float64(
    ops: Ops, dtype: str, rows: int, heads: int, shared: int, g: torch.Generator
) -> None:
    src = filled(Ops.reference(), index_layout(dtype), 12, g)
    table = page_table(rows, 12, 5, shared, g)
    lens = torch.randint(0, 321, (rows,), generator=g, dtype=torch.int32)
    lens[0] = 63 if rows == 1 else 320
    q = torch.randn(rows, heads, 128, generator=g)
    weight = torch.randn(rows, heads, generator=g)
    logits = ops.indexer_logits(src, q, weight, table, lens)
    keys = restated.index_keys(src)[table.long()].flatten(1, 2)
    want = ((q.double() @ keys.transpose(1, 2)).relu() * weight.double()[..., None]).sum(1)
    seen = torch.arange(320) < lens[:, None]
    assert logits.shape == (rows, 320)
    torch.testing.assert_close(logits[seen].double(), want[seen], atol=1e-4, rtol=1e-5)
    assert bool((logits[~seen] == -torch.inf).all())


@pytest.mark.parametrize("dtype", INDEX_K)
def test_only_a_row_that_reads_a_nan_sees_one(ops: Ops, dtype: str, g: torch.Generator) -> None:
    src = filled(Ops.reference(), index_layout(dtype), 8, g)
    src.plane("value")[3, 5] = torch.nan
    table = torch.tensor([[1, 2, 3], [4, 5, 6], [1, 2, 3]], dtype=torch.int32)
    lens = torch.tensor([134, 192, 133], dtype=torch.int32)  # row 2 ends just before the NaN
    q, weight = torch.randn(3, 1, 128, generator=g), torch.ones(3, 1)
    bad = ops.indexer_logits(src, q, weight, table, lens).isnan().nonzero()
    assert bad.tolist() == [[0, 133]]


@pytest.mark.parametrize("dtype", INDEX_K)
def test_a_row_does_not_depend_on_its_batch(dtype: str, g: torch.Generator) -> None:
    src = filled(Ops.reference(), index_layout(dtype), 12, g)
    table, lens = page_table(9, 12, 5, 2, g), torch.full((9,), 300, dtype=torch.int32)
    table[:4, 2:4] = table[0, 2:4].clone()  # prefixes shared by many, then by fewer
    q, weight = torch.randn(9, 1, 128, generator=g), torch.rand(9, 1, generator=g)
    logits = Ops.reference().indexer_logits
    together = logits(src, q, weight, table, lens)
    for i in range(9):
        row = slice(i, i + 1)
        alone = logits(src, q[row], weight[row], table[row], lens[row])
        torch.testing.assert_close(alone, together[row], atol=1e-4, rtol=1e-5)
