"""pages_freed_under_a_write: a failed room gives its pages back, and is written all the same."""

from __future__ import annotations

import torch

from engine import clock
from engine.defects import catalog, seams
from engine.disagg.inproc_wire import InprocWire
from engine.disagg.wire import PostState
from tests.engine.shadow.hand_over import HandOver

NAME = "pages_freed_under_a_write"
MINE, ANOTHER_S, TOKENS = [2, 3], [7, 8], 500


def joined(it: HandOver) -> InprocWire:
    wire = InprocWire()
    wire.register("prefill", it.regions[0])
    wire.register("decode", it.regions[1])
    return wire


async def failed_under_way(it: HandOver, build: list[str]) -> PostState:
    """Room 1 fails halfway through a write; when it ends room 2 has its pages, and its own rows."""
    wire, lost = joined(it), it.opened(1, [5, 6])
    piece = it.kv(MINE, lost.pages)
    post = wire.post(1, piece.writes, "1_kv_0_1_0", 2.0)
    await clock.sleep(1.0)
    seams(build).room_fence().close(wire, 1)
    it.books.free(lost.pages)
    info = it.opened(2, [5, 6])
    it.send(2, ANOTHER_S, info, TOKENS)
    await clock.sleep(1.0)
    if wire.poll(post) is PostState.DONE:
        it.watch.landed(1, piece, lost, TOKENS)
    it.watch.committed(2, info, TOKENS)
    return post.state


def test_the_write_lands_in_the_pages_of_a_room_that_never_failed() -> None:
    it = HandOver()
    assert clock.run(failed_under_way(it, [NAME])) is PostState.DONE
    assert torch.equal(it.dst.c4.pages[[5, 6]], it.src.c4.pages[MINE])
    late, *differ = it.seen
    assert (late["name"], late["writer_room"], late["victim_room"]) == (
        catalog()[NAME].evidence[0],
        1,
        2,
    )
    assert [(said["name"], said["room"]) for said in differ] == [("room_bytes_differ", 2)] * 3


def test_a_healthy_build_takes_the_write_back_first() -> None:
    it = HandOver()
    assert clock.run(failed_under_way(it, [])) is PostState.CANCELLED
    assert torch.equal(it.dst.c4.pages[[5, 6]], it.src.c4.pages[ANOTHER_S])
    assert it.seen == []


def test_pages_that_nobody_took_meanwhile_lose_nothing() -> None:
    it = HandOver()
    wire, lost = joined(it), it.opened(1, [5, 6])
    piece = it.kv(MINE, lost.pages)

    async def main() -> PostState:
        post = wire.post(1, piece.writes, "", 0.0)
        seams([NAME]).room_fence().close(wire, 1)
        it.books.free(lost.pages)
        return wire.poll(post)

    assert clock.run(main()) is PostState.DONE
    it.watch.landed(1, piece, lost, TOKENS)
    assert it.seen == []
    assert it.harmless == 2
