"""The measured sizes in miniature: what is timed writes what plain torch writes."""

import pytest
import torch

from kernels.production.case import Case
from kernels.production.stores import cases

SMALL = list(cases("cpu", small=True))
NAMES = [case.name for case in SMALL]


@pytest.mark.kernels
@pytest.mark.parametrize("case", SMALL, ids=NAMES)
def test_every_choice_writes_the_bytes_of_plain_torch(case: Case) -> None:
    want = case.make(1)
    assert case.plain is not None
    wrote = case.plain(want)
    assert bool(want.dst.pages.any())
    # interpreted, there is no launch before this one to overlap: all start as one does alone
    calls = [call for name, call in case.candidates.items() if name.endswith("ahead")]
    for call in (case.ours, *calls):
        made = case.make(1)
        found = call(made)
        assert torch.equal(made.dst.pages, want.dst.pages)
        assert wrote is None or torch.equal(found, wrote)


@pytest.mark.parametrize("case", SMALL, ids=NAMES)
def test_every_row_is_live_and_no_slot_is_written_twice(case: Case) -> None:
    made = case.make(2)
    assert bool(made.live.all())
    assert len(made.slots.unique()) == len(made.rows)
    assert int(made.slots.min()) >= made.dst.layout.page_tokens
    assert made.slots[:33].diff().eq(1).all()
