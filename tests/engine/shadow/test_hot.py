"""An entry that comes back other than the device has it is seen, with its slot and its request."""

from __future__ import annotations

from random import Random

import torch

from tests.engine.runner.hot_world import HotWorld


def violations(world: HotWorld) -> list[dict[str, int | str]]:
    return [event.fields for event in world.events.events if event.kind == "violation"]


def test_fetched_entries_are_compared_and_found_alike() -> None:
    world, rng = HotWorld(), Random(1)
    reqs = [world.request(rng.randint(300, 1500), slot) for slot in (1, 2, 3)]
    for _ in range(80):
        world.step(reqs, rng, padded=1)
    world.hot.poll()
    checked = world.events.counters["hot_entries_checked"]
    assert checked == world.events.counters["hisparse_swap_ins"] > 0
    assert violations(world) == []


def test_of_a_step_that_fetches_many_some_of_every_row_are_compared_others_each_time() -> None:
    world, rng = HotWorld(topk=200, buffer=200), Random(1)
    reqs = [world.request(1500, slot) for slot in (1, 2, 3)]
    damaged = reqs[2].pages[0] * 64 + 11
    world.hot.host.layers[0].pages.view(torch.uint8)[reqs[2].pages[0]] ^= 1  # the whole page
    for turn in range(6):
        for req in reqs:
            world.hot.release(req.req_slot)
        x, before = world.inputs(reqs), world.events.counters["hot_entries_checked"]
        chosen = world.choices(reqs, rng)
        chosen[2, :64] = torch.arange(damaged - 11, damaged + 53)
        world.hot.read(chosen, x)
        assert world.events.counters["hot_entries_checked"] - before == 200  # every third of 600
        seen = {v["slot"] for v in violations(world)}
        assert len(violations(world)) == turn + 1
    assert len(seen) > 1


def test_the_counter_is_there_from_the_start() -> None:
    assert HotWorld().events.counters["hot_entries_checked"] == 0


def test_a_bit_lost_on_the_host_names_its_slot_and_its_request() -> None:
    world = HotWorld()
    req = world.request(1500, req_slot=3)
    slot = req.pages[1] * 64 + 7
    world.hot.host.layers[0].plane("scale").view(torch.uint8)[req.pages[1], 7, 2] ^= 1
    chosen = torch.full((1, 64), -1, dtype=torch.int32)
    chosen[0, 5], chosen[0, 9] = slot, slot + 1
    world.hot.read(chosen, world.inputs([req]))
    assert violations(world) == [{"name": "hot_entry_differs", "n": 1, "slot": slot, "req_slot": 3}]


def test_what_is_there_already_is_not_fetched_and_not_compared() -> None:
    world = HotWorld()
    req = world.request(1500)
    chosen = torch.full((1, 64), -1, dtype=torch.int32)
    chosen[0, 0] = req.pages[0] * 64
    for _ in range(3):
        world.hot.read(chosen, world.inputs([req]))
    assert world.events.counters["hot_entries_checked"] == 1
