"""Both wires do the same: what is due arrives, whole and with its note, or nothing does."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence

import pytest
import torch

from engine import clock
from engine.disagg.inproc_wire import InprocWire
from engine.disagg.nixl_wire import NixlWire, runs
from engine.disagg.wire import NoPostWatch, Posted, PostState, Region, Wire, Write
from engine.disagg.wires import WIRES, check_wire, open_wire
from engine.errors import ConfigError
from tests.engine.disagg.joined import ITEMS, LEN, Joined

PAGES = Write(0, src=(1, 2, 5), dst=(4, 0, 3), src_len=LEN, dst_len=LEN)
OTHERS = Write(1, src=(6,), dst=(7,), src_len=LEN, dst_len=LEN)


@pytest.fixture(
    params=[
        *(pytest.param((name, "cpu"), id=name) for name in sorted(WIRES)),
        pytest.param(("inproc", "cuda"), id="inproc-cuda", marks=pytest.mark.gpu),
    ]
)
def joined(request: pytest.FixtureRequest) -> Iterator[Joined]:
    name, device = request.param
    if name == "nixl":
        pytest.importorskip("nixl_cu13")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    joined = Joined(open_wire(name), device)
    yield joined
    joined.wire.close()


def test_a_post_moves_its_bytes_and_its_note_when_it_is_due_and_not_before(joined: Joined) -> None:
    async def main() -> None:
        post = joined.wire.post(7, [PAGES, OTHERS], "7_kv_0_1_0", 2.0)
        await clock.sleep(1.999)
        assert joined.wire.poll(post) is PostState.PROC
        assert joined.untouched() and joined.wire.notes() == [] and not post.ended.is_set()
        await clock.sleep(0.001)
        assert joined.wire.poll(post) is PostState.DONE

    clock.run(main())
    assert [joined.came_from(0, item) for item in range(ITEMS)] == [
        2,
        None,
        None,
        5,
        1,
        *[None] * 3,
    ]
    assert joined.came_from(1, 7) == 6
    assert joined.wire.notes() == ["7_kv_0_1_0"]


def test_bytes_are_those_of_the_moment_they_arrive(joined: Joined) -> None:
    async def main() -> None:
        post = joined.wire.post(7, [OTHERS], "", 1.0)
        joined.source[1][6 * LEN] = 77
        await clock.sleep(1.0)
        joined.wire.poll(post)
        joined.source[1][6 * LEN] = 78
        assert joined.wire.poll(post) is PostState.DONE

    clock.run(main())
    assert joined.target[1][7 * LEN] == 77


def test_notes_come_in_the_order_of_arrival_and_once(joined: Joined) -> None:
    async def main() -> None:
        late = joined.wire.post(1, [PAGES], "late", 2.0)
        same = [joined.wire.post(2, [OTHERS], "same", 1.0) for _ in range(2)]
        await clock.sleep(1.0)
        for post in same:
            joined.wire.poll(post)
        await clock.sleep(1.0)
        joined.wire.poll(late)

    clock.run(main())
    assert joined.wire.notes() == ["same", "same", "late"]
    assert joined.wire.notes() == []


def test_a_post_without_items_is_its_note_alone(joined: Joined) -> None:
    async def main() -> None:
        for writes in ([], [Write(0, (), (), LEN, LEN)], [Write(0, (), (), LEN, LEN)] * 2):
            assert joined.wire.poll(joined.wire.post(1, writes, "1_aux_0", 0.0)) is PostState.DONE

    clock.run(main())
    assert joined.untouched() and joined.wire.notes() == ["1_aux_0"] * 3


def test_a_cancelled_post_never_arrives_and_wakes_who_waits(joined: Joined) -> None:
    async def main() -> None:
        post = joined.wire.post(1, [PAGES], "1_kv_0_1_0", 1.0)
        asyncio.get_running_loop().call_later(0.5, joined.wire.cancel, post)
        await post.ended.wait()
        assert clock.now() == 0.5
        await clock.sleep(1.0)
        assert joined.wire.poll(post) is PostState.CANCELLED

    clock.run(main())
    assert joined.untouched() and joined.wire.notes() == []


def test_what_has_ended_cannot_be_cancelled(joined: Joined) -> None:
    async def main() -> None:
        post = joined.wire.post(1, [PAGES], "", 0.0)
        joined.wire.poll(post)
        joined.wire.cancel(post)
        assert post.state is PostState.DONE and post.ended.is_set()

    clock.run(main())


def test_a_revoked_room_loses_its_posts_and_gets_no_more_and_others_keep_theirs(
    joined: Joined,
) -> None:
    async def main() -> None:
        posts = [joined.wire.post(1, [PAGES], "1", seconds) for seconds in (0.0, 1.0)]
        other = joined.wire.post(2, [OTHERS], "2", 1.0)
        joined.wire.revoke(1)
        posts.append(joined.wire.post(1, [PAGES], "1", 0.0))
        await clock.sleep(1.0)
        assert [joined.wire.poll(post) for post in posts] == [PostState.CANCELLED] * 3
        assert all(post.ended.is_set() for post in posts)
        assert joined.wire.poll(other) is PostState.DONE

    clock.run(main())
    assert joined.untouched(0) and joined.wire.notes() == ["2"]


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (Write(0, (8,), (0,), LEN, LEN), "prefill c4 layer 0: item 8 ends at byte 432 of 384"),
        (Write(1, (0,), (8,), LEN, LEN), "decode c4 layer 1: item 8 ends at byte 432 of 384"),
        (Write(0, (0, 7), (0, 7), LEN, 52), "decode c4 layer 0: item 7 ends at byte 412 of 384"),
        (Write(0, (-1,), (0,), LEN, LEN), "prefill c4 layer 0: item -1 of 384"),
        (Write(2, (0,), (0,), LEN, LEN), "region 2: prefill has registered 2"),
        (Write(-1, (0,), (0,), LEN, LEN), "region -1: prefill has registered 2"),
        (Write(0, (0, 1), (0,), LEN, LEN), "region 0: 2 items for 1 places"),
        (Write(0, (0,), (0,), 0, LEN), "region 0: items of 0 and 48 bytes"),
    ],
)
def test_a_write_outside_registered_memory_is_refused_before_any_byte_has_moved(
    joined: Joined, write: Write, why: str
) -> None:
    async def main() -> None:
        post = joined.wire.post(1, [PAGES, write], "1", 0.0)
        assert joined.wire.poll(post) is PostState.ERR
        assert post.ended.is_set() and post.why == why

    clock.run(main())
    assert joined.untouched() and joined.wire.notes() == []


@pytest.mark.parametrize("dst_len", [LEN - 16, LEN + 5])
def test_a_mis_strided_write_lands_where_its_stride_says(joined: Joined, dst_len: int) -> None:
    joined.land([Write(0, (3, 1), (0, 6), LEN, dst_len)])
    at = 6 * dst_len
    assert torch.equal(joined.target[0][:LEN], joined.item(0, 3))
    assert torch.equal(joined.target[0][at : at + LEN], joined.item(0, 1))
    assert int((joined.target[0] != 0).sum()) == 2 * LEN


def test_of_items_that_overlap_the_later_is_on_top(joined: Joined) -> None:
    joined.land([Write(0, (3, 1), (0, 1), LEN, 16), Write(0, (2,), (0,), 8, 8)])
    assert torch.equal(joined.target[0][16 : 16 + LEN], joined.item(0, 1))
    assert torch.equal(joined.target[0][8:16], joined.item(0, 3)[8:16])
    assert torch.equal(joined.target[0][:8], joined.source[0][16:24])


def test_a_place_named_twice_holds_the_later_item(joined: Joined) -> None:
    joined.land([Write(0, (3, 1, 2), (5, 5, 6), LEN, LEN)])
    assert (joined.came_from(0, 5), joined.came_from(0, 6)) == (1, 2)


def test_two_pairs_of_one_process_do_not_mix(joined: Joined) -> None:
    other = Joined(type(joined.wire)(), joined.device)
    joined.land([PAGES], "mine")
    assert other.untouched()
    other.land([OTHERS], "other")
    assert joined.untouched(1)
    assert (joined.wire.notes(), other.wire.notes()) == (["mine"], ["other"])
    other.wire.close()


def test_regions_may_be_registered_in_parts(joined: Joined) -> None:
    more = [torch.full((64,), n, dtype=torch.uint8, device=joined.device) for n in (9, 0)]
    joined.wire.register("prefill", [Region("aux", 0, more[0], 64)])
    joined.wire.register("decode", [Region("aux", 0, more[1], 64)])
    joined.land([PAGES, Write(2, (0,), (0,), 64, 64)])
    assert joined.came_from(0, 4) == 1 and torch.equal(*more)


def test_closing_cancels_and_refuses_and_may_be_repeated(joined: Joined) -> None:
    async def main() -> None:
        post = joined.wire.post(1, [PAGES], "1", 0.0)
        joined.wire.close()
        joined.wire.close()
        assert joined.wire.poll(post) is PostState.CANCELLED and post.ended.is_set()
        assert joined.wire.post(2, [PAGES], "2", 0.0).state is PostState.CANCELLED

    clock.run(main())
    assert joined.untouched()


def test_runs_contiguous_on_both_sides_are_one() -> None:
    src, dst, sizes = runs(Write(0, (1, 2, 3, 4, 9), (5, 6, 8, 9, 10), 16, 16))
    assert (src.tolist(), dst.tolist(), sizes.tolist()) == (
        [16, 48, 144],
        [80, 128, 160],
        [32, 32, 16],
    )


def test_items_apart_by_another_stride_are_no_run() -> None:
    src, dst, sizes = runs(Write(0, (1, 2), (1, 2), 16, 20))
    assert (src.tolist(), dst.tolist(), sizes.tolist()) == ([16, 32], [20, 40], [16, 16])


def test_nixl_refuses_memory_that_is_not_the_host_s() -> None:
    pytest.importorskip("nixl_cu13")
    wire: Wire = NixlWire()
    memory = torch.empty(64, dtype=torch.uint8, device="meta")
    with pytest.raises(ConfigError, match="moves host memory, and c4 lies on meta") as refused:
        wire.register("decode", [Region("c4", 0, memory, 16)])
    assert refused.value.keys[0] == "wire"
    wire.close()


def test_nixl_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nixl_cu13._api", None)
    monkeypatch.setitem(sys.modules, "nixl_cu13", None)
    for asked in (open_wire, check_wire):
        with pytest.raises(ConfigError) as refused:
            asked("nixl")
        assert refused.value.keys == ("wire",)
        said = "wire nixl needs the package nixl_cu13: pip install -e '.[nixl]'"
        assert str(refused.value) == said
        check_wire("inproc")


def test_a_wire_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ConfigError, match="wire is rdma; it must be one of inproc, nixl"):
        open_wire("rdma")


def test_a_wire_that_fails_on_its_way_says_which_items_have_moved() -> None:
    class Fails(InprocWire):
        def _move(self, writes: Sequence[Write], note: str) -> str:
            return "no more" if 2 in writes[0].src else super()._move(writes, note)

    class Heard(NoPostWatch):
        items: tuple[list[int], list[int]]

        def landed(self, post: Posted) -> None:
            raise AssertionError(post)

        def torn(self, post: Posted, moved: Sequence[Write], torn: Sequence[Write]) -> None:
            self.items = [w.src[0] for w in moved], [w.src[0] for w in torn]

    wire, heard = Fails(), Heard()
    joined, wire.watch = Joined(wire), heard

    async def main() -> PostState:
        return wire.poll(wire.post(1, [Write(0, (0, 1, 2, 3), (4, 4, 5, 6), LEN, LEN)], "", 0.0))

    assert clock.run(main()) is PostState.ERR
    assert heard.items == ([0, 1], [2])
    assert torch.equal(joined.target[0][4 * LEN : 5 * LEN], joined.item(0, 1))
