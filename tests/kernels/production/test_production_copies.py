"""The measured sizes in miniature: what is timed moves what the references move."""

import pytest
import torch

from kernels.page_copy import page_copy_ref
from kernels.production.case import Case
from kernels.production.copies import MOVED, Pages, cases

SMALL = list(cases("cpu", small=True))
PAGES = [case for case in SMALL if case.kernel.startswith("page copy")]
OTHERS = [case for case in SMALL if case.plain and case not in PAGES]


@pytest.mark.kernels
@pytest.mark.parametrize("case", PAGES, ids=[case.name for case in PAGES])
def test_every_choice_copies_the_pages(case: Case) -> None:
    want = case.make(1)
    sides = (want.pool, want.other), (want.pool_pages, want.other_pages)
    (to, frm), (into, out_of) = sides if want.to_pool else (side[::-1] for side in sides)
    page_copy_ref(to, frm, into, out_of)
    for call in (case.ours, *case.candidates.values()):
        made = case.make(1)
        call(made)
        assert torch.equal(made.pool, want.pool)
        assert torch.equal(made.other, want.other)


@pytest.mark.kernels
@pytest.mark.parametrize("case", OTHERS, ids=[case.name for case in OTHERS])
def test_every_choice_agrees_with_plain_torch(case: Case) -> None:
    want = case.make(1)
    assert case.plain is not None
    returned = case.plain(want)
    for call in (case.ours, *case.candidates.values()):
        made = case.make(1)
        found = call(made)
        assert returned is None or torch.equal(found, returned)
        assert returned is not None or torch.equal(made.dst.pages, want.dst.pages)


def test_a_link_moves_64_mib_or_more_both_ways_in_every_order() -> None:
    links = [case for case in cases("cpu") if case.link != "hbm"]
    assert all(case.moved_bytes >= MOVED and case.goal for case in links)
    assert len({case.name for case in links}) == 5 * 3 * 2


def test_pages_lie_in_no_order() -> None:
    made = PAGES[0].make(2)
    assert isinstance(made, Pages)
    for pages in (made.pool_pages, made.other_pages):
        assert len(pages.unique()) == len(pages)
