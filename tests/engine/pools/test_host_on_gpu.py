"""The same copies between a GPU and pinned host memory, by compiled kernels."""

from __future__ import annotations

import pytest
import torch

from tests.engine.pools.mirrored import PAIRS, Tiers, differing

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut"])
@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_pages_come_back_from_pinned_memory_as_they_went(
    layout: str, io: str, cut: bool, index_k: str
) -> None:
    tiers = Tiers(
        device="cuda",
        index_k=index_k,
        hicache_layout=layout,
        hicache_io=io,
        build=("partial_page_transfers",) if cut else (),
    )
    assert all(pool.buffer.is_pinned() for pool in tiers.host.pools)
    tiers.scribble(range(7))
    before = [tiers.bytes_of(page) for page in (1, 2)]
    host = tiers.back_up([1, 2])
    tiers.scribble(range(7))
    tiers.restore(host, [5, 4])
    tiers.host.load(host, [5, 4])  # the next load's issue asks what came of the last one
    torch.cuda.synchronize()
    assert [differing(before[i], tiers.bytes_of(page)) for i, page in enumerate((5, 4))] == [[], []]
    assert tiers.events.events == []


def test_a_mirror_sized_as_fp8_is_seen_there_too() -> None:
    tiers = Tiers(device="cuda", index_k="bf16", build=("host_mirror_sized_as_fp8",))
    tiers.scribble(range(7))
    host = tiers.back_up([1])
    tiers.scribble(range(7))
    tiers.restore(host, [4])
    tiers.host.load(host, [5])  # the next load's issue asks what came of the last one
    assert tiers.counted("restored_differs:") == {"restored_differs:index_k": 1}
