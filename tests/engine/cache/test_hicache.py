"""Copies start together, wait for their step, and are acknowledged once they have arrived."""

from __future__ import annotations

from collections.abc import Sequence

from engine.cache.hicache import HiCacheController
from engine.cache.layer_done import LayerDoneCounter
from engine.cache.prefix import Node
from engine.cache.questions import AfterItsStep
from engine.cache.tiers import HostPage
from engine.events import EventLog
from engine.streams import Copy, Stage, Streams
from tests.engine.cache.two_tiers import LAYERS, FakeTier, Memory


class Listening(FakeTier):
    """Keeps the device pages of each load, when it hears of it."""

    def __init__(self, pages: int, device: Memory) -> None:
        super().__init__(pages, device)
        self.heard: list[list[int]] = []

    def load(self, host: Sequence[HostPage], device: Sequence[int]) -> list[Stage]:
        self.heard.append(list(device))
        return super().load(host, device)


class Bench:
    """A controller over ten pages of either tier, one page a second."""

    def __init__(self, tier: FakeTier | None = None) -> None:
        self.now, self.events = 0.0, EventLog(lambda: 0)
        self.tier = tier or FakeTier(10, Memory(10))
        self.streams = Streams(1.0, lambda: self.now)
        self.control = HiCacheController(
            self.tier, self.streams, self.events, lambda: self.now, AfterItsStep()
        )
        self.host = self.tier.allocate(10) or []

    def at(self, now: float) -> None:
        self.now = now
        self.streams.land(now)

    def write(self, page: int) -> None:
        self.control.write([page], [self.host[page - 1]], Node(page))
        self.control.start_writing()

    def load(self, page: int) -> None:
        self.control.load([page], [self.host[page - 1]], Node(page))

    def arrived(self) -> tuple[list[int], list[int]]:
        backups, loads = self.control.poll()
        return [each.node.id for each in backups], [each.node.id for each in loads]


def test_a_backup_without_a_step_in_flight_starts_at_once() -> None:
    bench = Bench()
    bench.write(1)
    bench.at(0.9)
    assert bench.arrived() == ([], [])
    bench.at(1.0)
    assert bench.arrived() == ([1], [])
    assert bench.control.idle


def test_a_backup_waits_for_the_steps_that_were_launched_before_it() -> None:
    bench = Bench()
    bench.control.launched()
    bench.control.launched()
    bench.control.finished()
    bench.write(1)
    bench.at(5.0)
    assert bench.arrived() == ([], [])
    bench.tier.device.write(1, 0, "by the step")
    bench.control.finished()
    bench.at(6.0)
    assert bench.arrived() == ([1], [])
    assert bench.tier.read(bench.host[0])[0] == "by the step"


def test_a_later_step_holds_no_backup_back() -> None:
    bench = Bench()
    bench.control.launched()
    bench.write(1)
    bench.control.launched()
    bench.control.finished()
    bench.at(1.0)
    assert bench.arrived() == ([1], [])


def test_backups_that_waited_for_one_step_are_one_copy() -> None:
    bench = Bench()
    bench.control.launched()
    bench.write(1)
    bench.write(2)
    bench.control.finished()
    bench.at(1.5)
    assert bench.arrived() == ([], [])
    bench.at(2.0)
    assert bench.arrived() == ([1, 2], [])


def test_loads_start_with_their_step_and_arrive_layer_by_layer() -> None:
    bench = Bench()
    bench.load(1)
    bench.load(2)
    assert bench.control.launched() == 0
    done = bench.control.layer_done
    assert [done.wait_until(0, layer) for layer in range(LAYERS)] == [0.5, 1.0, 1.5, 2.0]
    bench.at(1.0)
    assert [done.pending(0, layer) for layer in range(LAYERS)] == [False, False, True, True]
    assert bench.arrived() == ([], [])
    bench.at(2.0)
    assert bench.arrived() == ([], [1, 2])


def test_a_load_means_what_its_host_pages_held_when_it_was_asked_for() -> None:
    tier = Listening(10, Memory(10))
    bench = Bench(tier)
    bench.load(1)
    bench.load(2)
    assert tier.heard == [[1], [2]]
    bench.control.launched()
    assert tier.heard == [[1], [2]]


def test_a_step_without_a_load_waits_for_nothing() -> None:
    bench = Bench()
    assert bench.control.launched() == -1
    assert bench.control.layer_done.wait_until(-1, 3) == 0.0
    assert not bench.control.layer_done.pending(-1, 3)


def test_loads_take_turns_on_three_events() -> None:
    bench = Bench()
    given = []
    for page in range(1, 6):
        bench.load(page)
        given.append(bench.control.launched())
        bench.at(bench.now + 1.0)
    assert given == [0, 1, 2, 0, 1]
    assert bench.events.counters == {}


def test_an_event_whose_load_is_in_flight_is_not_free_and_that_is_seen() -> None:
    events = EventLog(lambda: 0)
    counter = LayerDoneCounter(events)
    for _ in range(4):
        counter.update_producer(Copy("load", 0.0, [1.0]))
    assert events.counters == {"violation:loading_event_reused": 1}


def test_a_copy_that_is_waited_for_keeps_the_next_step_back() -> None:
    bench = Bench()
    bench.tier.device.write(1, 0, "old")
    bench.control.write_now([1], bench.host[:1])
    bench.tier.device.write(1, 0, "new")
    assert bench.tier.read(bench.host[0])[0] == "old"
    bench.control.write_now([2], bench.host[1:2])
    assert bench.control.stall_s() == 2.0
    bench.at(1.5)
    assert bench.control.stall_s() == 0.5
    bench.at(9.0)
    assert bench.control.stall_s() == 0.0


def test_a_load_behind_copies_that_were_waited_for_starts_after_them() -> None:
    bench = Bench()
    bench.control.write_now([1], bench.host[:1])
    bench.load(2)
    producer = bench.control.launched()
    assert bench.control.layer_done.wait_until(producer, 0) == 1.25


def test_a_source_that_changed_is_found_at_the_acknowledgement() -> None:
    bench = Bench()
    bench.write(1)
    bench.at(1.0)
    bench.tier.device.write(1, 2, "late")
    bench.control.poll()
    assert bench.tier.changed == [1]
