"""Logits are the weighted sum of rectified dots, -inf where a row has ended."""

import math

import pytest
import torch
from torch import Tensor

from kernels import exact
from kernels.cases import INDEX_K, filled, index_layout, page_table
from kernels.indexer_logits import LogitsPlan, indexer_logits_triton, plan_for
from kernels.layout import LayerView
from kernels.ops import Ops

SHAPES = [(1, 1, 0), (7, 1, 3), (3, 3, 1), (5, 1, 5), (2, 2, 1), (2, 16, 0), (1, 64, 0)]
# relative l2 error: a matrix unit keeps about 14 bits of a sum of e4m3 products
WITHIN = {torch.bfloat16: 1e-5, torch.float8_e4m3fn: 5e-3}
PLANS = (
    LogitsPlan(1, 2),
    LogitsPlan(2, 3),
    LogitsPlan(3, 4),
    LogitsPlan(32, 6, overlap=False),
)


def float64_logits(src: LayerView, q: Tensor, weight: Tensor, table: Tensor) -> Tensor:
    """Every entry of every row's pages, dead ones too."""
    keys = exact.index_keys(src)[table.long()].flatten(1, 2)
    return ((q.double() @ keys.transpose(1, 2)).relu() * weight.double()[..., None]).sum(1)


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
    want = float64_logits(src, q, weight, table)
    seen = torch.arange(320) < lens[:, None]
    assert logits.shape == (rows, 320)
    atol = 1e-4 * math.sqrt(heads)
    torch.testing.assert_close(logits[seen].double(), want[seen], atol=atol, rtol=1e-5)
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


@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul")  # of padded heads
@pytest.mark.parametrize("q_dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("heads", [3, 16])
def test_infinity_in_one_lane_of_a_key_is_infinity_or_rectified(
    ops: Ops, heads: int, q_dtype: torch.dtype, g: torch.Generator
) -> None:
    src = filled(Ops.reference(), index_layout("bf16"), 4, g)
    src.plane("value")[1, 5, 7], src.plane("value")[2, 6, 8] = torch.inf, -torch.inf
    table, lens = torch.tensor([[1, 2, 3]], dtype=torch.int32), torch.tensor([192]).int()
    q, weight = torch.randn(1, heads, 128, generator=g).to(q_dtype), torch.ones(1, heads)
    q[0, :, 7], q[0, :, 8] = 0.3, 0.7  # below and above their nearest bfloat16
    logits = ops.indexer_logits(src, q, weight, table, lens)
    want = float64_logits(src, q, weight, table)
    assert (float(logits[0, 5]), float(logits[0, 70])) == (torch.inf, 0.0)
    torch.testing.assert_close(logits.double(), want, atol=1e-3, rtol=1e-4)


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


@pytest.mark.parametrize("q_dtype", WITHIN, ids=str)
@pytest.mark.parametrize("dtype", INDEX_K)
@pytest.mark.parametrize("heads", [3, 64])
def test_queries_may_be_of_fewer_bits(
    ops: Ops, dtype: str, q_dtype: torch.dtype, heads: int, g: torch.Generator
) -> None:
    src = filled(Ops.reference(), index_layout(dtype), 6, g)
    table, lens = page_table(2, 6, 3, 1, g), torch.tensor([192, 70], dtype=torch.int32)
    q = torch.randn(2, heads, 128, generator=g).to(q_dtype)
    weight = torch.randn(2, heads, generator=g)
    logits = ops.indexer_logits(src, q, weight, table, lens)
    seen = torch.arange(192) < lens[:, None]
    want = float64_logits(src, q, weight, table)[seen]
    assert (logits[seen] - want).norm() <= WITHIN[q_dtype] * want.norm()
    assert bool((logits[~seen] == -torch.inf).all())


@pytest.mark.parametrize("dtype", INDEX_K)
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_every_plan_gives_the_same(
    dtype: str, plan: LogitsPlan, device: str, g: torch.Generator
) -> None:
    src = filled(Ops.reference(), index_layout(dtype), 9, g)
    table, lens = page_table(4, 9, 5, 0, g), torch.tensor([320, 1, 0, 129], dtype=torch.int32)
    for row, length in enumerate(lens.tolist()):
        table[row, -(-length // 64) :] = 1 << 30  # no such page: a load from it would fault
    q, weight = torch.randn(4, 2, 128, generator=g), torch.randn(4, 2, generator=g)
    want = Ops.reference().indexer_logits(src, q, weight, table, lens)
    src, q, weight, table, lens = _there(device, src, q, weight, table, lens)
    logits = indexer_logits_triton(src, q, weight, table, lens, plan=plan)
    torch.testing.assert_close(logits.cpu(), want, atol=1e-4, rtol=1e-5)


def test_rows_may_lie_far_apart(device: str, g: torch.Generator) -> None:
    src = filled(Ops.reference(), index_layout("bf16"), 6, g)
    table, lens = page_table(3, 6, 3, 0, g), torch.tensor([192, 5, 64], dtype=torch.int32)
    q, weight = torch.randn(3, 2, 128, generator=g), torch.randn(3, 2, generator=g)
    want = Ops.reference().indexer_logits(src, q, weight, table, lens)
    src, q, weight, table, lens = _there(device, src, q, weight, table, lens)
    wide = torch.zeros(3, 1000, device=device)
    out = indexer_logits_triton(src, q, weight, table, lens, out=wide[:, 3:195])
    assert out.data_ptr() == wide[:, 3:].data_ptr()
    torch.testing.assert_close(out.cpu(), want, atol=1e-4, rtol=1e-5)
    assert not wide[:, :3].any()
    assert not wide[:, 195:].any()


def test_arguments_may_have_gaps_but_for_the_rows_of_out(device: str, g: torch.Generator) -> None:
    src = filled(Ops.reference(), index_layout("bf16"), 6, g)
    table, lens = page_table(3, 6, 3, 0, g), torch.tensor([192, 5, 64], dtype=torch.int32)
    q, weight = torch.randn(3, 2, 128, generator=g), torch.randn(3, 2, generator=g)
    src, *given = _there(device, src, q, weight, table, lens)
    want = indexer_logits_triton(src, *given)
    assert torch.equal(indexer_logits_triton(src, *map(_gaps, given)), want)
    for out in (want[:, :64], want.double(), torch.empty(192, 3, device=device).t()):
        with pytest.raises(ValueError, match=r"^out is torch.float\d\d \[3, .*; wanted is float32"):
            indexer_logits_triton(src, *given, out=out)


@pytest.mark.gpu
def test_a_row_may_begin_past_two_to_the_31(g: torch.Generator) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    src = filled(Ops.reference(), index_layout("fp8"), 3, g)
    table, lens = page_table(3, 3, 2, 0, g), torch.tensor([128, 5, 64], dtype=torch.int32)
    q, weight = torch.randn(3, 2, 128, generator=g), torch.randn(3, 2, generator=g)
    want = Ops.reference().indexer_logits(src, q, weight, table, lens)
    src, q, weight, table, lens = _there("cuda", src, q, weight, table, lens)
    # never filled: only the three rows are touched
    out = torch.empty_strided((3, 128), ((1 << 30) + 64, 1), device="cuda")
    indexer_logits_triton(src, q, weight, table, lens, out=out)
    torch.testing.assert_close(out.cpu(), want, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("rows", [1, 4, 64, 128, 8192])
@pytest.mark.parametrize("width", [1, 32, 64, 1024, 2048])
def test_a_plan_fills_the_device_where_there_is_work_for_it(rows: int, width: int) -> None:
    chunk = plan_for(rows, width).chunk
    assert rows * -(-width // chunk) >= min(256, rows * width)
    assert chunk in (1, 2, 4, 8, 16, 32)


@pytest.mark.parametrize("chunk", [0, 33])
def test_a_chunk_that_no_warp_holds_is_refused(chunk: int) -> None:
    with pytest.raises(ValueError, match=f"a chunk of {chunk} pages; one has 1 to 32"):
        LogitsPlan(chunk, 4)


def _gaps(x: Tensor) -> Tensor:
    """The same numbers, every one of them far from the next."""
    wide = x.new_zeros(*x.shape, 2)
    wide[..., 0] = x
    return wide[..., 0]


def _there(device: str, src: LayerView, *rest: Tensor) -> tuple[LayerView, *tuple[Tensor, ...]]:
    return LayerView(src.layout, src.pages.to(device)), *(x.to(device) for x in rest)
