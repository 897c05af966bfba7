"""Before a layer reads a pool, what was restored there has landed; and the step is that much later.

A step of four seconds over four layers: layer l is reached at second l.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

import pytest

from engine.cache.layer_done import LayerDoneCounter
from engine.events import EventLog
from engine.runner.gate import EveryRead, LoadGate, NoLoads, ReadGate
from engine.streams import Stage, Streams

LAYERS, STEP_S = 4, 4.0
ALL_AT_ONCE = [4.0, 0.0, 0.0, 0.0]  # seconds of each layer's copy


class IndexKeysDoNot(EveryRead):
    def waits(self, pool: str, layer: int) -> bool:
        return pool != "index_k"


class Step:
    """A gate over real streams; ``moved`` names the layers that have landed."""

    def __init__(self, ask: ReadGate | None = None) -> None:
        self.now = 0.0
        self.events = EventLog(lambda: 0)
        self.streams = Streams(1.0, lambda: self.now)
        self.done = LayerDoneCounter(self.events)
        self.moved: list[str] = []
        self.gate = LoadGate(
            ask or EveryRead(), self.streams, self.done, LAYERS, self.events, lambda: self.now
        )

    def load(self, seconds: Sequence[float]) -> int:
        """Start a load whose layers take so long; its producer index."""
        stages = [Stage(s, partial(self.moved.append, f"layer {i}")) for i, s in enumerate(seconds)]
        return self.done.update_producer(self.streams.issue("load", stages, direction="h2d"))

    def back_up(self, seconds: float) -> None:
        self.streams.issue("backup", [Stage(seconds, partial(self.moved.append, "backup"))])

    def begin(self, producer: int = -1, late_s: float = 0.0) -> None:
        self.gate.begin(STEP_S, late_s, producer, [7, 8])

    def read(self, pages: Sequence[int] = (7, 8), layers: int = LAYERS) -> None:
        """One request of the step reads so many layers."""
        self.gate.reader(pages)
        for layer in range(layers):
            self.gate.wait("swa", layer)

    @property
    def seen(self) -> list[dict[str, int | str]]:
        return [event.fields for event in self.events.events if event.kind == "violation"]


@pytest.fixture
def step() -> Step:
    return Step()


@pytest.mark.parametrize("layer", range(LAYERS))
def test_a_read_finds_its_layer_landed_and_the_later_ones_not(step: Step, layer: int) -> None:
    step.begin(step.load([10.0, 10.0, 10.0, 10.0]))
    step.gate.reader([7])
    step.gate.wait("c4", layer)
    assert step.moved == [f"layer {i}" for i in range(layer + 1)]


@pytest.mark.parametrize(
    ("seconds", "stalled"),
    [
        ([0.0, 1.0, 1.0, 1.0], 0.0),  # each arrives as it is reached
        ([0.5, 0.5, 0.5, 0.5], 0.5),  # the first is late, and by that the others are not
        ([0.0, 2.0, 1.0, 1.0], 1.0),
        ([0.0, 2.0, 2.0, 2.0], 3.0),
        ([0.0, 0.0, 0.0, 9.0], 6.0),
    ],
)
def test_a_step_stalls_for_what_is_not_there_when_its_layer_is_reached(
    step: Step, seconds: list[float], stalled: float
) -> None:
    step.begin(step.load(seconds))
    step.read()
    assert step.gate.end() == stalled


def test_what_a_step_waits_for_its_load_is_counted_in_whole_microseconds(step: Step) -> None:
    step.begin(step.load([0.0, 1.0, 1.0, 1.0]))
    step.read()
    step.gate.end()
    assert step.events.counters["load_wait_us"] == 0
    step.now = 100.0
    step.begin(step.load([0.5, 0.0, 0.0, 0.0]), late_s=0.25)
    step.read()
    assert step.gate.end() == 0.5
    assert step.events.counters["load_wait_us"] == 250_000


def test_a_step_without_a_load_counts_no_wait(step: Step) -> None:
    step.begin(-1, late_s=2.0)
    step.read()
    step.gate.end()
    assert "load_wait_us" not in step.events.counters


def test_readers_of_one_step_wait_side_by_side(step: Step) -> None:
    step.begin(step.load(ALL_AT_ONCE))
    step.read([7])
    step.read([8])
    assert step.gate.end() == 4.0


def test_a_reader_of_other_pages_waits_too_for_it_is_the_same_step(step: Step) -> None:
    step.begin(step.load(ALL_AT_ONCE))
    step.read([1])
    assert step.gate.end() == 4.0


def test_a_step_passes_the_layers_that_its_model_left_out(step: Step) -> None:
    step.begin(step.load([1.0, 1.0, 1.0, 9.0]))
    step.read(layers=3)
    assert "layer 3" not in step.moved
    assert step.gate.end() == 9.0
    assert step.moved[-1] == "layer 3"


def test_a_step_without_a_load_waits_for_none_that_is_on_its_way(step: Step) -> None:
    step.load([50.0, 1.0, 1.0, 1.0])
    step.begin(-1)
    step.read()
    assert (step.gate.end(), step.moved) == (0.0, [])


def test_a_step_waits_for_its_own_load_and_not_for_a_later_one(step: Step) -> None:
    mine = step.load(ALL_AT_ONCE)
    step.load([50.0, 1.0, 1.0, 1.0])
    step.begin(mine)
    step.read()
    assert step.gate.end() == 4.0


def test_a_wait_ends_where_the_copy_does_to_the_last_bit() -> None:
    rng = random.Random(0)
    for _ in range(2000):  # one in fifty falls short by a bit where differences are added up
        step = Step()
        step.now = rng.uniform(0.0, 1e3)
        step.load(
            [rng.uniform(0.0, 3.0)] * LAYERS
        )  # the stream is busy when the step's own load is asked
        step.begin(step.load([rng.uniform(0.0, 3.0) for _ in range(LAYERS)]))
        step.read()
        step.gate.end()
        assert step.seen == []


def test_copies_land_on_the_way_of_a_step_that_waits_for_nothing(step: Step) -> None:
    step.back_up(2.0)
    step.begin()
    step.read(layers=2)
    assert step.moved == []
    step.read(layers=3)
    assert step.moved == ["backup"]


def test_a_step_that_starts_late_finds_more_landed_and_ends_later(step: Step) -> None:
    step.back_up(2.5)
    step.begin(step.load([3.0, 0.0, 0.0, 0.0]), late_s=2.5)
    assert step.moved == ["backup"]
    step.read()
    assert step.gate.end() == 3.0  # 2.5 late, 0.5 stalled


def test_the_stall_of_a_step_is_not_the_next_one_s(step: Step) -> None:
    step.begin(step.load(ALL_AT_ONCE))
    step.read()
    step.gate.end()
    step.now = 8.0
    step.begin()
    step.read()
    assert step.gate.end() == 0.0


def test_a_step_is_longer_by_what_it_fetches_itself_and_not_by_what_it_stores(step: Step) -> None:
    step.begin(step.load([0.0, 2.0, 1.0, 1.0]))
    step.read()
    assert step.gate.end() == 1.0
    assert step.gate.carry(fetched=2.0, stored=50.0) == 2.0
    assert step.gate.carry(fetched=0.0, stored=0.0) == 0.0


def test_what_a_step_moves_itself_shares_the_link_with_copies_that_go_the_same_way(
    step: Step,
) -> None:
    step.begin()
    step.gate.end()
    step.gate.carry(fetched=2.0, stored=3.0)
    assert step.streams.issue("backup", [Stage(1.0, lambda: None)]).start_s == 3.0
    assert step.streams.issue("load", [Stage(1.0, lambda: None)], direction="h2d").start_s == 6.0
    assert step.gate.carry(fetched=1.0, stored=0.0) == 4.0  # behind that load


def test_a_getter_that_does_not_wait_is_seen_reading_too_early() -> None:
    step = Step(IndexKeysDoNot())
    step.begin(step.load([0.0, 0.0, 0.0, 9.0]))
    step.read([1, 7, 8], layers=3)
    step.gate.wait("index_k", 3)
    assert step.moved == ["layer 0", "layer 1", "layer 2"]
    [seen] = step.seen
    assert seen == {
        "name": "read_before_load",
        "n": 2,
        "pool": "index_k",
        "layer": 3,
        "page": 7,
    }


def test_a_getter_that_does_not_wait_does_no_harm_once_the_bytes_are_there() -> None:
    step = Step(IndexKeysDoNot())
    step.begin(step.load([0.0, 0.0, 0.0, 3.0]))
    step.read(layers=3)
    step.gate.wait("index_k", 3)
    assert step.seen == []


def test_who_reads_none_of_the_restored_pages_reads_none_too_early() -> None:
    step = Step(IndexKeysDoNot())
    step.begin(step.load([0.0, 0.0, 0.0, 9.0]))
    step.gate.reader([1, 2])
    step.gate.wait("index_k", 3)
    assert step.seen == []


@pytest.mark.parametrize("pool", ["swa", "c4", "c128", "index_k"])
@pytest.mark.parametrize("layer", range(LAYERS))
def test_every_read_waits(pool: str, layer: int) -> None:
    assert EveryRead().waits(pool, layer)


def test_an_engine_without_a_host_tier_has_nothing_to_wait_for() -> None:
    assert (NoLoads().wait_until(0, 3), NoLoads().pending(0, 3)) == (0.0, False)
