"""The measured selections in miniature: every cut finds what plain torch finds."""

import pytest
import torch

from kernels.jit import INTERPRETED
from kernels.production.case import Case
from kernels.production.topk import cases

SMALL = list(cases("cpu", small=True))


@pytest.mark.kernels
@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1")
@pytest.mark.parametrize("case", SMALL, ids=[case.name for case in SMALL])
def test_every_choice_finds_what_torch_finds(case: Case) -> None:
    given = case.make(1)
    assert case.plain is not None
    want = case.plain(given).sort(dim=1).values
    for call in (case.ours, *case.candidates.values()):
        assert torch.equal(call(given), want.to(torch.int32))
