"""What decode reads through the hot buffer is what the c4 pool holds, however little fits in."""

from __future__ import annotations

from random import Random

import pytest
import torch

from engine.pools import layouts
from tests.engine.runner.hot_world import HotWorld, same_bytes

PATH = "path{}:hisparse_c4:{}:{}:layer_first"


def counted(world: HotWorld, operation: str, branch: str) -> tuple[int, int]:
    """(calls, rows) of one path so far."""
    world.hot.poll()
    names = (PATH.format(kind, operation, branch) for kind in ("", "_rows"))
    calls, rows = (world.events.counters[name] for name in names)
    return calls, rows


@pytest.mark.parametrize(("topk", "buffer"), [(64, 64), (16, 16), (16, 33), (48, 100)])
@pytest.mark.parametrize("seed", range(3))
def test_reads_equal_direct_reads_byte_for_byte(topk: int, buffer: int, seed: int) -> None:
    world, rng = HotWorld(topk, buffer), Random(f"{seed} {topk}")
    reqs = [world.request(rng.randint(1, 1500), slot) for slot in (1, 2, 3)]
    for _ in range(280):  # more than the ring's 64 entries
        chosen, found = world.step(reqs, rng)
        assert same_bytes(chosen, world.pools.c4, found)


def test_request_slots_and_pages_change_hands() -> None:
    world, rng = HotWorld(topk=64, buffer=64), Random(1)
    reqs = {slot: world.request(rng.randint(1, 1200), slot) for slot in (1, 2, 3)}
    for step in range(400):
        if step % 20 == 19:
            slot = rng.choice(list(reqs))
            world.leave(reqs[slot])
            reqs[slot] = world.request(rng.randint(1, 1200), slot)
        rows = rng.sample(list(reqs.values()), rng.randint(1, 3))
        chosen, found = world.step(rows, rng, padded=step % 3)
        chosen[len(rows) :] = -1
        assert same_bytes(chosen, world.pools.c4, found)


def test_padded_rows_read_and_change_nothing() -> None:
    world, rng = HotWorld(), Random(2)
    req = world.request(900)
    world.step([req], rng)
    before, host = world.hot.table.held[1:].clone(), world.hot.host.buffer.clone()
    x = world.inputs([], padded=3)  # they carry request slot 1, and a c4 slot of page 1
    world.hot.begin(x)
    world.hot.take_newest(x)
    found = world.hot.read(torch.full((3, 64), 70, dtype=torch.int32), x)
    assert (found.slots == -1).all()
    assert torch.equal(world.hot.table.held[1:, :-1], before[:, :-1])
    assert torch.equal(world.hot.host.buffer, host)


def test_padding_beside_real_rows_makes_no_difference() -> None:
    bare, padded = HotWorld(), HotWorld()
    for world, padding in ((bare, 0), (padded, 3)):  # the padding carries request slot 1
        rng, reqs = Random(8), [world.request(1500, slot) for slot in (1, 2)]
        for _ in range(30):
            world.step(reqs, rng, padding)
    for name in ("held", "used"):
        one, other = (getattr(world.hot.table, name)[1:, :-1] for world in (bare, padded))
        assert torch.equal(one, other)
    assert torch.equal(bare.hot.host.buffer, padded.hot.host.buffer)
    assert torch.equal(bare.hot.counts, padded.hot.counts)


def test_the_first_step_copies_out_nothing_of_who_had_the_slot_before() -> None:
    world, rng = HotWorld(), Random(9)
    before = world.request(255)
    world.step([before], rng)  # completes entry 63
    world.leave(before)
    world.step([world.request(256)], rng)  # as if entry 63 had been decoded
    world.hot.poll()
    assert world.events.counters["hisparse_backups"] == 0


def test_a_choice_of_nothing_stays_nothing() -> None:
    world = HotWorld()
    x = world.inputs([world.request(900)])
    found = world.hot.read(torch.full((1, 64), -1, dtype=torch.int32), x)
    assert (found.slots == -1).all()
    assert world.hot.poll() == (0, 0)


@pytest.mark.parametrize(
    ("kv_len", "pages", "tokens"),
    [(256 * 3, 3, 0), (256 * 3 + 250, 3, 62), (100, 0, 25), (3, 0, 0)],
)
def test_a_prompt_goes_by_pages_and_its_ragged_tail_by_tokens(
    kv_len: int, pages: int, tokens: int
) -> None:
    world = HotWorld()
    world.request(kv_len)
    assert counted(world, "backup", "all_layer_mla") == (int(pages > 0), pages)
    assert counted(world, "backup", "token_granular") == (int(tokens > 0), tokens)


def test_one_entry_a_row_is_backed_up_in_four_steps() -> None:
    world, rng = HotWorld(topk=16, buffer=16), Random(4)
    reqs = [world.request(1024, 1), world.request(512, 2)]
    for _ in range(40):
        world.step(reqs, rng)
    world.hot.poll()
    assert world.events.counters["hisparse_backups"] == 2 * 9  # the tenth waits for a next step
    assert counted(world, "backup", "token_granular") == (9, 18)


def test_what_is_missing_is_fetched_by_tokens_and_counted() -> None:
    world, rng = HotWorld(topk=64, buffer=64), Random(5)
    req = world.request(1500)
    x = world.inputs([req])
    first = world.choose(req, rng)[None]
    for _ in range(2):
        world.hot.read(first, x)
    entry_bytes = 576 + 8
    assert world.hot.poll() == (64 * entry_bytes * 21, 0)  # c4 layers of DeepSeek-V4-Flash
    assert world.hot.poll() == (0, 0)
    assert counted(world, "load", "token_granular") == (1, 64)
    assert counted(world, "load", "per_layer_mla") == (0, 0)
    assert world.events.counters["hisparse_hits"] == 64


@pytest.mark.parametrize("buffer", [16, 33, 64])
def test_a_request_keeps_as_many_entries_as_the_buffer_has_and_no_more(buffer: int) -> None:
    world = HotWorld(topk=1, buffer=buffer)
    req = world.request(1500)
    x = world.inputs([req])
    slots = [torch.tensor([[req.pages[i // 64] * 64 + i % 64]]).int() for i in range(buffer + 1)]
    for chosen in [*slots[:buffer], *slots[:buffer]]:  # all fit: the second time all are there
        world.hot.read(chosen, x)
    assert counted(world, "load", "token_granular")[1] == buffer
    for chosen in [slots[buffer], slots[0]]:  # one more: the oldest has left
        world.hot.read(chosen, x)
    assert counted(world, "load", "token_granular")[1] == buffer + 2


def test_every_path_is_counted_from_the_start() -> None:
    counters = HotWorld().events.counters
    for operation, branch in (("backup", "all_layer_mla"), ("load", "per_layer_mla")):
        for name in (branch, "token_granular"):
            for kind in ("", "_rows"):
                assert counters[PATH.format(kind, operation, name)] == 0


def test_both_pools_have_the_geometry_of_the_c4_latent() -> None:
    world = HotWorld(topk=64, buffer=100)
    assert world.hot.host.layout == world.hot.device.layout == layouts.c4(1)
    assert world.hot.host.layout.page_bytes == 37_440
    assert len(world.hot.host.layers[0].pages) == world.config.pool_pages + 1
    assert len(world.hot.device.layers[0].pages) == 5 * 3  # request slots; 100 + 64 places


def test_a_page_taken_while_a_copy_of_it_is_out_ends_as_its_owner_has_it() -> None:
    world, rng = HotWorld(), Random(6)
    req, gone = world.request(1020, 2, spare=4), world.request(700, 1)
    world.hot.stage(gone, world.streams)  # in flight when its request is aborted
    req.pages += gone.pages
    for step in range(300):
        if step == 150:
            world.land()
        chosen, found = world.step([req], rng)
        assert same_bytes(chosen, world.pools.c4, found)
