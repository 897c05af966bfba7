"""peer_item_len_trusted: nobody compares two pools, and pages land where the sender's would lie."""

from __future__ import annotations

import pytest

from engine.config import EngineConfig
from engine.defects import catalog, seams
from engine.disagg.metadata import MetadataBuffers
from engine.disagg.pieces import Plan, layouts_of, regions_of
from engine.disagg.questions import PeerLayout
from engine.disagg.wire import Region
from engine.errors import ConfigError
from engine.events import EventLog
from engine.pools.device import DevicePools, SizedByLayout, allocate

NAME = "peer_item_len_trusted"
PAGES = 6


def side(index_k: str) -> tuple[DevicePools, list[Region]]:
    """One side's pools and regions."""
    config = EngineConfig(index_k=index_k, pool_pages=PAGES, max_running=1)
    pools = allocate(config, SizedByLayout())
    return pools, regions_of(pools, MetadataBuffers(1))


def lens(build: list[str], prefill: DevicePools, decode: DevicePools) -> dict[str, int]:
    """What a build takes the decode's items to be long, by pool."""
    answer: PeerLayout = seams(build).peer_layout()
    own = layouts_of(prefill)
    found = answer.item_lens(own, layouts_of(decode))
    return dict(zip([name for name, _ in own], found, strict=True))


def sent(index_k: str, peer_index_k: str, build: list[str], page: int) -> tuple[list[int], int]:
    """Send a page of index keys to the same page over there: the pages of the peer that hold bytes
    of it, and the byte after the last one written.
    """
    (prefill, src), (decode, dst) = side(index_k), side(peer_index_k)
    plan = Plan(src, lens(build, prefill, decode), EventLog(lambda: 0))
    write = plan.kv(0, True, [page], [page]).writes[1]
    start, end = page * write.dst_len, page * write.dst_len + write.src_len
    dst[write.region].memory[start:end] = 7
    return decode.index_k.pages.any(1).nonzero().flatten().tolist(), end


def test_a_healthy_pair_refuses_and_prints_both_layouts() -> None:
    (prefill, _), (decode, _) = side("fp8"), side("bf16")
    with pytest.raises(ConfigError) as caught:
        lens([], prefill, decode)
    assert "8,448 bytes (64 x 128 float8_e4m3fn, 64 x 1 float32)" in str(caught.value)
    assert "16,384 (64 x 128 bfloat16)" in str(caught.value)


def test_the_defect_accepts_and_fp8_pages_land_in_other_pages_of_a_bf16_pool() -> None:
    assert sent("fp8", "bf16", [NAME], page=4)[0] == [2]


def test_the_other_way_round_a_page_ends_past_the_smaller_pool() -> None:
    assert sent("bf16", "fp8", [NAME], page=2)[0] == [3, 4, 5]
    end = sent("bf16", "fp8", [NAME], page=PAGES)[1]
    assert end > len(side("fp8")[0].index_k.pages.flatten())


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
def test_pools_that_are_alike_are_served_right_by_the_same_mistake(index_k: str) -> None:
    assert sent(index_k, index_k, [NAME], page=4)[0] == [4]
    (prefill, _), (decode, _) = side(index_k), side(index_k)
    assert lens([NAME], prefill, decode) == lens([], prefill, decode)


def test_its_evidence_is_the_room_s_digests() -> None:
    assert catalog()[NAME].evidence == ("room_bytes_differ",)
