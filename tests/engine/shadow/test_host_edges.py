"""Copies are ordered by what waits for what, and a copy that waits for nothing is found."""

from __future__ import annotations

import pytest

from tests.engine.shadow.host_world import Shadowed


def unordered(tiers: Shadowed) -> list[str]:
    return [str(event["edge"]) for event in tiers.violations("unordered_access")]


def test_a_backup_of_a_step_that_the_host_has_heard_of_is_in_order() -> None:
    tiers = Shadowed()
    tiers.step([1])
    tiers.back_up([1])
    assert unordered(tiers) == []


def test_a_backup_of_a_step_that_is_not_over_is_not() -> None:
    tiers = Shadowed()
    tiers.step([1], heard=False)
    tiers.back_up([1])
    assert unordered(tiers) == ["backup 1 did not wait for prefill step 1"]
    [event] = tiers.violations("unordered_access")
    assert (event["page"], event["state"]) == (1, "VALID")


def test_a_step_that_writes_between_the_issue_of_a_backup_and_its_landing_is_found() -> None:
    tiers = Shadowed()
    [stage] = tiers.host.backup([1], tiers.take(1))
    tiers.step([1], heard=False)
    stage.move()
    assert unordered(tiers) == ["backup 1 did not wait for prefill step 1"]


def test_it_is_found_though_the_host_and_a_later_backup_have_heard_of_it_by_then() -> None:
    tiers = Shadowed()
    [stage] = tiers.host.backup([1], tiers.take(1))
    tiers.step([1])
    tiers.host.backup([2], tiers.take(1))
    stage.move()
    assert unordered(tiers) == ["backup 1 did not wait for prefill step 1"]


def test_an_acknowledged_backup_lets_its_page_go() -> None:
    tiers = Shadowed()
    tiers.step([1])
    tiers.back_up([1])
    tiers.memory.freed([1], "the cache")
    assert unordered(tiers) == []


def test_a_device_page_let_go_while_a_backup_reads_it_is_found() -> None:
    tiers = Shadowed()
    tiers.step([1])
    tiers.host.backup([1], tiers.take(1))
    tiers.memory.freed([1], "the cache")
    assert unordered(tiers) == ["the release by the cache did not wait for backup 1"]


def test_an_acknowledged_backup_says_nothing_of_a_later_one_to_the_same_host_page() -> None:
    tiers = Shadowed()
    tiers.step([1, 2])
    host = tiers.take(1)
    [first] = tiers.host.backup([1], host)
    first.move()
    tiers.host.backup([2], host)
    tiers.host.settled([1], host)
    tiers.memory.freed([1], "the cache")
    tiers.memory.freed([2], "the cache")
    assert unordered(tiers)[-1] == "the release by the cache did not wait for backup 2"


def test_an_acknowledged_load_says_nothing_of_a_later_one_to_the_same_page() -> None:
    tiers = Shadowed()
    tiers.step([1])
    host = tiers.back_up([1])
    tiers.restore(host, [5])
    tiers.host.load(host, [5])
    tiers.host.loaded([5])
    tiers.memory.freed([5], "the cache")
    assert unordered(tiers) == ["the release by the cache did not wait for load 2"]


def test_a_host_page_let_go_after_the_load_was_acknowledged_is_in_order() -> None:
    tiers = Shadowed(pool_pages=2, host_ratio=1)
    tiers.step([1])
    host = tiers.back_up([1])
    tiers.restore(host, [2])
    tiers.host.loaded([2])
    tiers.host.free(host)
    tiers.back_up([1, 2])
    assert unordered(tiers) == []


def test_a_host_page_filled_anew_under_a_load_is_found_and_the_row_says_by_whom() -> None:
    tiers = Shadowed(pool_pages=2, host_ratio=1)
    tiers.step([1, 2])
    host = tiers.back_up([1])
    stages = tiers.host.load(host, [2])
    tiers.host.free(host)
    tiers.back_up([1, 1])
    for stage in stages:
        stage.move()
    assert unordered(tiers) == [
        "the release of host pages did not wait for load 1",
        "backup 2 did not wait for load 1",
    ]
    source = "which backup 2 filled at 0 us, after it was handed to another"
    assert tiers.writer("c4", 2) == f"load 1 of host page {host[0].anchor}, {source}"
    assert {event["tier"] for event in tiers.violations("unordered_access")} == {"host"}
    [event] = tiers.violations("host_page_changed_under_load")
    assert (event["writer"], event["writer_kind"]) == ("backup 2", "backup")
    assert event["edge"] == "backup 2 did not wait for load 1"


def test_a_step_that_reads_a_page_while_a_load_fills_it_is_found() -> None:
    tiers = Shadowed()
    tiers.step([1])
    memory, host = tiers.memory, tiers.back_up([1])
    before = memory.book.version[5]
    stages = tiers.host.load(host, [5])
    assert memory.book.version[5] > before  # whoever knew the page looks again
    memory.book.read(memory.begin("decode", "decode step 9", memory.compute, lanes=(7,)), [5])
    for stage in stages:
        stage.move()
    assert unordered(tiers) == ["load 1 did not wait for decode step 9"]


def test_a_load_into_a_page_that_a_step_in_flight_reads_is_found() -> None:
    tiers = Shadowed()
    tiers.step([1])
    host = tiers.back_up([1])
    memory = tiers.memory
    reader = memory.begin("decode", "decode step 9", memory.compute, lanes=(7,))
    memory.book.reads(reader, [5])
    tiers.users.stale = [("request 7", 5)]
    tiers.restore(host, [5])
    assert unordered(tiers) == ["load 1 did not wait for decode step 9"]
    [event] = tiers.violations("load_wrote_page_in_use")
    assert (event["writer"], event["writer_kind"]) == ("load 1", "load")


@pytest.mark.parametrize(("waits", "bad"), [(0, True), (2, True), (3, False)])
def test_a_load_is_known_to_be_over_by_its_last_layer_alone(waits: int, bad: bool) -> None:
    tiers = Shadowed()
    tiers.step([1])
    tiers.restore(tiers.back_up([1]), [5])
    shadow, memory = tiers.host.shadow, tiers.memory
    shadow.waited(shadow.loads_into([5]), waits)
    reader = memory.begin("decode", "decode step 9", memory.compute, lanes=(7,))
    assert bool(memory.book.reads(reader, [5])) == bad


def test_the_first_layers_of_two_loads_say_nothing_of_the_last_one_of_either() -> None:
    tiers = Shadowed()
    tiers.step([1, 2])
    host = tiers.back_up([1, 2])
    for i, page in enumerate((5, 6)):
        tiers.restore(host[i : i + 1], [page])
    shadow, memory = tiers.host.shadow, tiers.memory
    shadow.waited(shadow.loads_into([5, 6]), 0)
    reader = memory.begin("decode", "decode step 9", memory.compute, lanes=(7,))
    assert [each.page for each in memory.book.reads(reader, [5, 6])] == [5, 6]


def test_what_is_under_way_is_said_of_the_pages() -> None:
    tiers = Shadowed()
    tiers.step([1])
    host = tiers.take(1)
    [stage] = tiers.host.backup([1], host)
    book = tiers.memory.book
    assert book.state(1) == "IN_FLIGHT_OUT"
    stage.move()
    assert book.state(1) == "VALID"
    stages = tiers.host.load(host, [5])
    assert book.state(5) == "IN_FLIGHT_IN"
    for stage in stages:
        assert book.state(5) == "IN_FLIGHT_IN"
        stage.move()
    assert book.state(5) == "VALID"
