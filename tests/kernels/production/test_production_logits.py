"""The measured sizes in miniature: what is timed computes what plain torch computes."""

import pytest
import torch

from kernels.jit import INTERPRETED
from kernels.production.case import Case
from kernels.production.indexer_logits import cases

SMALL = list(cases("cpu", small=True))


@pytest.mark.kernels
@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
@pytest.mark.parametrize("case", SMALL, ids=[case.name for case in SMALL])
def test_every_choice_agrees_with_plain_torch(case: Case) -> None:
    """Both sides multiply exactly; torch rounds the dots and the weights to bfloat16."""
    x = case.make(1)
    assert case.plain is not None
    want = case.plain(x)
    for call in (case.ours, *case.candidates.values()):
        off = call(x) - want
        assert off.norm() < 1e-2 * want.norm()


@pytest.mark.parametrize("case", SMALL, ids=[case.name for case in SMALL])
def test_no_page_is_read_twice_and_no_key_is_nan(case: Case) -> None:
    x = case.make(2)
    assert len(x.table.unique()) == x.table.numel()
    assert not x.src.plane("value").float().isnan().any()
    assert case.moved_bytes > x.table.numel() * x.src.layout.page_bytes


def test_a_seed_gives_the_same_inputs() -> None:
    first, again = SMALL[0].make(3), SMALL[0].make(3)
    assert torch.equal(first.src.pages, again.src.pages)
    assert torch.equal(first.table, again.table)
