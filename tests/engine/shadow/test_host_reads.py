"""A getter that hands out what a load has not brought, or what nobody waited for, is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.engine.shadow.host_world import Shadowed


def loading(landed: int, pages: Sequence[int] = (5, 6)) -> Shadowed:
    """A load into pages, of which so many layers have landed."""
    tiers = Shadowed()
    tiers.step([1, 2])
    for stage in tiers.host.load(tiers.back_up([1, 2]), pages)[:landed]:
        stage.move()
    return tiers


def read(
    tiers: Shadowed, pool: str, layers: Sequence[int], prefix: Sequence[int] = (5, 6)
) -> list[dict[str, int | str]]:
    """The getter of a pool is called at layers for a step, which is told of."""
    shadow, memory = tiers.host.shadow, tiers.memory
    shadow.reader(prefix)
    for layer in layers:
        shadow.read(pool, layer)
    memory.running = memory.begin("prefill", "prefill step 9", memory.compute, 9, (7,))
    shadow.reader(())
    return [event.fields for event in tiers.events.events]


@pytest.mark.parametrize("waits", range(-1, 4))
def test_a_step_knows_of_the_layers_of_a_load_that_it_waited_for(waits: int) -> None:
    tiers = loading(landed=0)
    shadow = tiers.host.shadow
    if waits >= 0:
        shadow.waited(shadow.loads_into([6]), waits)
    edges = [read(tiers, "index_k", [layer])[-1]["edge"] for layer in range(4)]
    assert [not edge for edge in edges] == [layer <= waits for layer in range(4)]


def test_the_first_layers_of_two_loads_say_nothing_of_the_last_of_the_first() -> None:
    tiers = Shadowed()
    tiers.step([1, 2])
    host = tiers.back_up([1, 2])
    for i, page in enumerate((5, 6)):
        tiers.host.load(host[i : i + 1], [page])
    shadow = tiers.host.shadow
    shadow.waited(shadow.loads_into([5, 6]), 0)
    assert [each["edge"] for each in read(tiers, "index_k", [0])] == ["", ""]
    assert [each["edge"] for each in read(tiers, "index_k", [3])[2:]] == [
        f"the read of index_k did not wait for load {i}" for i in (1, 2)
    ]


def test_a_layer_that_has_landed_is_no_matter_whoever_waited_for_it() -> None:
    assert read(loading(landed=3), "index_k", [2]) == []


def test_rows_that_have_not_landed_are_told_with_their_reader_and_the_missing_wait() -> None:
    tiers = loading(landed=1)
    [found] = read(tiers, "index_k", [2])
    assert {key: found[key] for key in ("name", "n", "page", "slot", "position", "state")} == {
        "name": "read_during_load",
        "n": 128,
        "page": 5,
        "slot": 5 * 64,
        "position": 0,
        "state": "IN_FLIGHT_IN",
    }
    assert (found["reader"], found["request"], found["step"]) == (
        "prefill step 9 row 0 of request 7",
        7,
        9,
    )
    assert (found["writer"], found["writer_kind"]) == ("load 1", "load")
    assert found["edge"] == "the read of index_k did not wait for load 1"


def test_it_is_told_though_all_has_landed_by_the_end_of_the_step() -> None:
    tiers = Shadowed()
    tiers.step([1])
    shadow, memory = tiers.host.shadow, tiers.memory
    stages = tiers.host.load(tiers.back_up([1]), [5])
    shadow.reader([5])
    shadow.read("index_k", 2)
    for stage in stages:
        stage.move()
    memory.running = memory.begin("prefill", "prefill step 9", memory.compute, 9, (7,))
    shadow.reader([1])
    assert [each["page"] for each in tiers.violations("read_during_load")] == [5]


def test_a_window_is_read_of_the_last_page_of_a_prefix_alone() -> None:
    tiers = loading(landed=0)
    assert read(tiers, "swa", [0], [5, 6, 1]) == []
    [found] = read(tiers, "swa", [0])
    assert (found["page"], found["position"]) == (6, 256)


def test_pages_that_nothing_fills_are_read_without_a_wait() -> None:
    assert read(loading(landed=0), "c4", range(4), [1, 2]) == []
