"""The measured sizes in miniature: what is timed computes what plain torch computes."""

import pytest
import torch

from kernels.production.case import Case
from kernels.production.sparse_attention import _decoded, _plans, cases

SMALL = list(cases("cpu", small=True))


@pytest.mark.kernels
@pytest.mark.parametrize("case", SMALL, ids=[case.name for case in SMALL])
def test_every_choice_agrees_with_plain_torch(case: Case) -> None:
    """Torch rounds its scores to bfloat16 before the softmax, which moves a weight, and the sum of
    a late peak, by 2**-8 of the score.
    """
    x = case.make(1)
    assert case.plain is not None
    want, want_lse = case.plain(x)
    for call in (case.ours, case.alone, *case.candidates.values()):
        assert call is not None
        out, lse = call(x)
        assert (out - want).float().norm() < 2e-2 * want.float().norm()
        torch.testing.assert_close(lse, want_lse, atol=2e-2, rtol=2**-8)


SPARSE = [case for case in SMALL if case.kernel == "sparse attention"]


@pytest.mark.parametrize("case", SPARSE, ids=[case.name for case in SPARSE])
def test_no_latent_is_read_twice_and_none_is_nan(case: Case) -> None:
    x = case.make(2)
    for part in x.segments:
        assert len(part.slots.unique()) == part.slots.numel()
        code = part.view.plane("value")[..., :448].contiguous()
        assert not code.view(torch.float8_e4m3fn).float().isnan().any()
        assert int(part.slots.min()) >= part.view.layout.page_tokens


def test_a_late_peak_is_far_above_what_the_first_block_holds() -> None:
    (late,) = [case for case in SMALL if case.size.endswith("a late peak")]
    x = late.make(3)
    (part,) = x.segments
    keys = _decoded(part.view, part.slots.long()).float()
    score = torch.einsum("bd,bnd->bn", x.q[:, 0].float(), keys)
    first, last = score[:, :64].amax(1), score[:, -1]
    assert (last - first).min() > 40 and late.goal is None


def test_chunks_that_are_tried_are_whole_blocks() -> None:
    for rows in (1, 5, 64, 100, 512):
        for latents in (128, 192, 320, 512, 704):
            assert all(plan.chunk % 64 == 0 for plan in _plans(rows, 64, latents))
