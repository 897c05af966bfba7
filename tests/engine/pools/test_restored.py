"""Whatever is stored, backed up, overwritten and restored elsewhere comes back byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.cache.tiers import HostPage
from tests.engine.pools.mirrored import PAIRS, Tiers, differing

PAGES = 5
Step = tuple[str, int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["store", "backup", "restore", "drop"]),
        st.integers(0, 99),
        st.integers(1, 3),
    ),
    min_size=4,
    max_size=24,
)


@dataclass
class Schedule:
    """Pages that are stored to, backed up, lost, restored to other pages, and looked at."""

    tiers: Tiers
    kept: list[tuple[HostPage, dict[str, Tensor]]] = field(default_factory=list)
    restored: int = 0

    def store(self, pages: list[int]) -> None:
        self.tiers.scribble(pages)

    def backup(self, pages: list[int]) -> None:
        if self.tiers.host.available >= len(pages):
            host = self.tiers.back_up(pages)
            self.kept += [(h, self.tiers.bytes_of(p)) for h, p in zip(host, pages, strict=True)]

    def restore(self, pages: list[int]) -> None:
        chosen = self.kept[-len(pages) :]
        pages = pages[: len(chosen)]
        self.tiers.scribble(range(PAGES + 1))  # all of the device is evicted and taken over
        others = {page: self.tiers.bytes_of(page) for page in range(PAGES + 1)}
        self.tiers.restore([host for host, _ in chosen], pages)
        wanted = others | {p: was for p, (_, was) in zip(pages, chosen, strict=True)}
        for page, was in wanted.items():
            assert differing(was, self.tiers.bytes_of(page)) == []
        self.restored += len(pages)

    def drop(self, pages: list[int]) -> None:
        gone, self.kept = self.kept[: len(pages)], self.kept[len(pages) :]
        self.tiers.host.free([host for host, _ in gone])

    def play(self, plan: list[Step]) -> None:
        for what, at, n in plan:
            pages = [(at + i) % PAGES + 1 for i in range(n)]
            if what != "restore" or self.kept:
                getattr(self, what)(pages)


@pytest.mark.parametrize("slot_page", [128, 256])
@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut"])
@pytest.mark.parametrize(("layout", "io"), PAIRS)
@settings(max_examples=6, deadline=None)
@given(plan=steps)
def test_restored_pages_equal_their_originals(
    plan: list[Step], layout: str, io: str, cut: bool, index_k: str, slot_page: int
) -> None:
    tiers = Tiers(
        pool_pages=PAGES,
        index_k=index_k,
        hicache_layout=layout,
        hicache_io=io,
        hicache_slot_page=slot_page,
        build=("partial_page_transfers",) if cut else (),
    )
    schedule = Schedule(tiers)
    schedule.play([("store", 0, 3), ("backup", 0, 2), *plan, ("backup", 1, 1), ("restore", 2, 2)])
    assert tiers.counted("violation:") == {}
    held = len(schedule.kept)
    assert tiers.host.available + held == tiers.host.pages
