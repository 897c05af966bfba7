"""One softmax a head over all its segments and the sink, and nothing from what is not seen."""

from functools import partial

import pytest
import torch

from kernels import exact
from kernels.cases import ATTENTION, AttentionCase, filled, latent_layout, random_slots
from kernels.matrix_attention import AttentionPlan
from kernels.ops import Ops, Segment

TOLERANCE = {"atol": 2e-5, "rtol": 1e-4}
# bfloat16 rounds the weights and the result, 2**-9 each (the interpreter cuts instead: 2**-8); the
# scores, hence the lse, are exact products summed in float32
BF16_OUT, BF16_LSE = 1e-2, 1e-3


def segments(g: torch.Generator, rows: int, *widths: int) -> tuple[Segment, ...]:
    """Segments of pools of 256-, 64- and 2-token pages, with dead slots among them."""
    found = []
    for tokens, width in zip((256, 64, 2), widths, strict=False):
        view = filled(Ops.reference(), latent_layout(tokens), max(3, 130 // tokens), g)
        found.append(Segment(view, random_slots(view, (rows, width), g)))
    return tuple(found)


def restate(
    q: torch.Tensor, parts: tuple[Segment, ...], bias: torch.Tensor, sink: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    out = torch.zeros(*q.shape[:2], 512, dtype=torch.float64)
    lse = torch.full(q.shape[:2], -torch.inf, dtype=torch.float64)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            rows, extra = [], []
            for i, s in enumerate(parts):
                live = s.slots[b][s.slots[b] >= 0]
                if bias[h, i] > -torch.inf and len(live):
                    rows.append(exact.latents(s.view, live))
                    extra.append(bias[h, i].expand(len(live)))
            if rows:
                out[b, h], lse[b, h] = exact.attend(
                    q[b, h], torch.cat(rows), torch.cat(extra), sink[h]
                )
    return out, lse


@pytest.mark.parametrize("case", ATTENTION, ids=str)
def test_one_segment_matches_float64(ops: Ops, case: AttentionCase, g: torch.Generator) -> None:
    parts, q = segments(g, case.rows, 63), case.query(g)
    sink, bias = torch.randn(case.heads, generator=g), torch.zeros(case.heads, 1)
    out, lse = ops.sparse_attention(q, parts, bias, sink, rope_only=case.rope_only, dims=case.dims)
    want, want_lse = restate(q, parts, bias, sink)
    lo, hi = case.dims or (0, 512)
    torch.testing.assert_close(out.double(), want[..., lo:hi], **TOLERANCE)
    torch.testing.assert_close(lse.double(), want_lse, **TOLERANCE)


def test_heads_read_the_segments_that_their_bias_allows(ops: Ops, g: torch.Generator) -> None:
    parts = segments(g, 3, 65, 17, 5)
    off = -torch.inf
    bias = torch.tensor([[0.0, off, off], [off, 0.5, 0.0], [0.0, 0.0, 0.0], [off, off, off]])
    q, sink = torch.randn(3, 4, 512, generator=g) / 20, torch.tensor([0.0, off, 3.0, 0.0])
    out, lse = ops.sparse_attention(q, parts, bias, sink)
    want, want_lse = restate(q, parts, bias, sink)
    torch.testing.assert_close(out.double(), want, **TOLERANCE)
    torch.testing.assert_close(lse.double(), want_lse, **TOLERANCE)


def test_a_row_that_sees_nothing_is_zero(ops: Ops, g: torch.Generator) -> None:
    parts = segments(g, 2, 20)
    parts[0].slots[1] = -1
    q = torch.randn(2, 1, 512, generator=g)
    for sink in (0.0, -torch.inf):
        out, lse = ops.sparse_attention(q, parts, torch.zeros(1, 1), torch.tensor([sink]))
        assert bool((out[1] == 0).all())
        assert float(lse[1, 0]) == -torch.inf
        assert bool(out[0].isfinite().all())


@pytest.mark.parametrize("plane", ["code", "scale", "rope"])
def test_a_nan_shows_only_in_rows_and_heads_that_see_it(
    ops: Ops, plane: str, g: torch.Generator
) -> None:
    parts = segments(g, 3, 12, 9)
    view, slots = parts[1].view, parts[1].slots
    bad = 70
    slots[slots == bad] = bad + 1
    slots[1, 4] = bad
    page, token = bad // 64, bad % 64
    if plane == "scale":
        view.plane("scale")[page, token, 2] = 0xFF
    elif plane == "code":
        view.plane("value")[page, token, 130] = 0x7F
    else:
        view.plane("value")[page, token, 448:450] = 0xFF
    bias = torch.tensor([[0.0, -torch.inf], [0.0, 0.0]])
    q = torch.randn(3, 2, 512, generator=g) / 20
    out, lse = ops.sparse_attention(q, parts, bias, torch.zeros(2))
    assert bool(out[1, 1].isnan().any())
    out[1, 1], lse[1, 1] = 0.0, 0.0
    assert bool(out.isfinite().all())
    assert bool(lse.isfinite().all())


def test_a_sink_far_above_the_scores_keeps_their_precision(ops: Ops, g: torch.Generator) -> None:
    parts = segments(g, 2, 33)
    q, bias = torch.randn(2, 1, 512, generator=g) / 20, torch.zeros(1, 1)
    out, lse = ops.sparse_attention(q, parts, bias, torch.tensor([60.0]))
    free, same = ops.sparse_attention(q, parts, bias, torch.tensor([-torch.inf]))
    torch.testing.assert_close(out, free * (lse - 60.0).exp()[..., None], atol=0.0, rtol=1e-4)
    torch.testing.assert_close(lse, same)


def test_a_row_does_not_depend_on_its_batch(g: torch.Generator) -> None:
    parts = segments(g, 40, 128)
    q, bias, sink = torch.randn(40, 3, 64, generator=g), torch.zeros(3, 1), torch.zeros(3)
    attend = Ops.reference().sparse_attention
    together, _ = attend(q, parts, bias, sink, rope_only=True)
    for i in (0, 17, 39):
        one = (Segment(parts[0].view, parts[0].slots[i : i + 1]),)
        alone, _ = attend(q[i : i + 1], one, bias, sink, rope_only=True)
        torch.testing.assert_close(alone, together[i : i + 1], **TOLERANCE)


def check_bf16(
    out: torch.Tensor,
    lse: torch.Tensor,
    want: torch.Tensor,
    want_lse: torch.Tensor,
    lse_atol: float = BF16_LSE,
) -> None:
    assert out.dtype == torch.bfloat16
    assert (out.double() - want).norm() < BF16_OUT * want.norm()
    torch.testing.assert_close(lse.double(), want_lse, atol=lse_atol, rtol=0.0)


@pytest.mark.parametrize(("heads", "width"), [(16, 65), (64, 128), (64, 130), (80, 20)])
def test_bfloat16_queries_match_float64(
    ops: Ops, heads: int, width: int, g: torch.Generator
) -> None:
    parts, sink = segments(g, 3, width), torch.randn(heads, generator=g)
    parts[0].slots[1] = -1
    q = (torch.randn(3, heads, 512, generator=g) / 20).bfloat16()
    bias = torch.zeros(heads, 1)
    out, lse = ops.sparse_attention(q, parts, bias, sink)
    check_bf16(out, lse, *restate(q, parts, bias, sink))
    assert bool((out[1] == 0).all())


def test_bfloat16_heads_read_the_segments_that_their_bias_allows(
    ops: Ops, g: torch.Generator
) -> None:
    parts, off = segments(g, 2, 70, 17, 5), -torch.inf
    bias = torch.zeros(16, 3)
    bias[:4] = torch.tensor([[0.0, off, off], [off, 0.5, 0.0], [0.0, 0.0, 0.0], [off, off, off]])
    q, sink = (torch.randn(2, 16, 512, generator=g) / 20).bfloat16(), torch.randn(16, generator=g)
    sink[0] = off
    out, lse = ops.sparse_attention(q, parts, bias, sink)
    check_bf16(out, lse, *restate(q, parts, bias, sink))


@pytest.mark.kernels
@pytest.mark.parametrize("blind", [False, True])
def test_split_and_whole_agree(ops: Ops, blind: bool, g: torch.Generator) -> None:
    if ops == Ops.reference():
        pytest.skip("has no chunks")
    parts, bias, sink = segments(g, 2, 150), torch.zeros(16, 1), torch.randn(16, generator=g)
    bias[3] = -torch.inf if blind else 0.5
    q = (torch.randn(2, 16, 512, generator=g) / 20).bfloat16()
    attend = partial(ops.sparse_attention, q, parts, bias, sink)
    want = restate(q, parts, bias, sink)
    for plan in (
        AttentionPlan(64),
        AttentionPlan(128),
        AttentionPlan(192),
        AttentionPlan(64, overlap=False),
    ):
        check_bf16(*attend(plan=plan), *want)


@pytest.mark.parametrize("late", [70, 140])
def test_scores_far_above_those_of_the_first_block_are_exact(
    ops: Ops, late: int, g: torch.Generator
) -> None:
    parts, sink = segments(g, 2, 150), torch.randn(16, generator=g)
    parts[0].slots[0, :64] = -1  # nothing to go by in the first block of row 0
    parts[0].slots[0, 149] = parts[0].slots[1, late] = 300
    near = exact.latents(parts[0].view, torch.tensor([300])).float()
    q = (torch.randn(2, 16, 512, generator=g) / 20).bfloat16()
    q[:, ::2] = (near * (200 / near.square().sum())).bfloat16()  # a score of 200
    bias = torch.zeros(16, 1)
    out, lse = ops.sparse_attention(q, parts, bias, sink)
    check_bf16(out, lse, *restate(q, parts, bias, sink), 0.1)
    assert float(lse[1, 0]) > 150


@pytest.mark.kernels
def test_a_sink_far_above_the_first_block_counts_beside_the_rows_maximum(
    ops: Ops, g: torch.Generator
) -> None:
    if ops == Ops.reference():
        pytest.skip("has no blocks")
    parts = segments(g, 2, 150)
    parts[0].slots[:, :64] = 299
    parts[0].slots[:, 64:] = 300
    first, late = exact.latents(parts[0].view, torch.tensor([299, 300])).float()
    across = late - first * ((first @ late) / first.square().sum())
    q = (across * (25 / across.square().sum())).expand(2, 16, -1).bfloat16()  # scores of 0 and 25
    sink = torch.tensor([90.0, 100.0]).repeat(8)  # up to 75 above the row's maximum
    plan = AttentionPlan(192)
    out, lse = ops.sparse_attention(q, parts, torch.zeros(16, 1), sink, plan=plan)
    want, want_lse = restate(q, parts, torch.zeros(16, 1), sink)
    torch.testing.assert_close(lse.double(), want_lse, atol=BF16_LSE, rtol=0.0)
    for mine, right in zip(out.double().flatten(0, 1), want.flatten(0, 1), strict=True):
        assert (mine - right).norm() < BF16_OUT * right.norm()


@pytest.mark.parametrize("plane", ["code", "scale", "rope"])
def test_a_nan_shows_only_in_bfloat16_rows_and_heads_that_see_it(
    ops: Ops, plane: str, g: torch.Generator
) -> None:
    for more in (0, 9):  # alone, or beside another segment
        parts = segments(g, 3, 12, *([more] if more else []))
        bad = 300
        parts[0].slots[parts[0].slots == bad] = bad + 1
        parts[0].slots[1, 4] = bad
        value, scale = parts[0].view.plane("value"), parts[0].view.plane("scale")
        if plane == "scale":
            scale[1, 44, 2] = 0xFF
        else:
            value[1, 44, 130 if plane == "code" else slice(510, 512)] = 0xFF
        bias = torch.zeros(16, len(parts))
        bias[5, 0] = -torch.inf
        q = (torch.randn(3, 16, 512, generator=g) / 20).bfloat16()
        out, lse = ops.sparse_attention(q, parts, bias, torch.zeros(16))
        seen = out.isnan().any(2)
        assert bool(seen[1, :5].all())
        assert bool(seen[1, 6:].all())
        assert int(seen.sum()) == 15
        assert int(lse.isnan().sum()) in (0, 15)


def test_bfloat16_reads_codes_and_scales_at_their_ends(ops: Ops, g: torch.Generator) -> None:
    view = filled(Ops.reference(), latent_layout(64), 3, g)
    view.plane("value")[1, 0, :448] = torch.arange(448) % 127
    view.plane("scale")[1, 0] = torch.tensor([0, 1, 9, 120, 127, 130, 140, 0])
    parts = (Segment(view, torch.tensor([[64]], dtype=torch.int32)),)
    out, lse = ops.sparse_attention(
        torch.zeros(1, 16, 512).bfloat16(), parts, torch.zeros(16, 1), torch.full((16,), -torch.inf)
    )
    want = exact.latents(view, torch.tensor([64])).expand(16, -1)
    torch.testing.assert_close(out[0].double(), want, atol=2**-124, rtol=2**-8)  # not subnormals
    assert bool((lse == 0).all())


def test_bfloat16_asks_for_all_dims(ops: Ops, g: torch.Generator) -> None:
    if ops == Ops.reference():
        pytest.skip("has every dim for any query")
    q = torch.zeros(1, 16, 512).bfloat16()
    with pytest.raises(ValueError, match="all 512 dims"):
        ops.sparse_attention(q, segments(g, 1, 4), torch.zeros(16, 1), torch.zeros(16), dims=(0, 9))
