"""The ledger blames a dead row that wrote, two slots of one row, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from engine.events import EventLog
from engine.pools import layouts
from engine.runner.index_store import StoreTrace
from engine.shadow.ledger import ENTRIES, Ledger
from kernels.layout import LayerView

PAGES = 6
LAYOUT = layouts.index_k("bf16", 1)
APART = LAYOUT.layer(LAYOUT.allocate(PAGES), 0)
HALF = LAYOUT.page_bytes // 2  # pages that start so close share their halves
ALIASED = LayerView(
    LAYOUT,
    LAYOUT.allocate(PAGES + 1).flatten().as_strided((PAGES, LAYOUT.page_bytes), (HALF, 1)),
)


@dataclass
class Owners:
    """Pages with an owner and a generation, changed by hand."""

    owner: dict[int, str] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)

    def owner_of(self, page: int) -> str | None:
        return self.owner.get(page)

    def generation_of(self, page: int) -> int:
        return self.taken.get(page, 0)

    def take(self, page: int, owner: str) -> None:
        self.owner[page] = owner
        self.taken[page] = self.generation_of(page) + 1


class Bench:
    """A ledger whose pages 1 and 2 are owned, and what it said."""

    def __init__(self) -> None:
        self.events = EventLog(lambda: 0)
        self.owners = Owners()
        self.owners.take(1, "request 1")
        self.owners.take(2, "request 2")
        self.ledger = Ledger(self.events, self.owners)

    def decode(self, *rows: tuple[int, bool, int], view: LayerView = APART) -> None:
        """One call of the store in a decode step: (loc, live, written) of each row."""
        loc, live, written = (torch.tensor(part) for part in zip(*rows, strict=True))
        self.ledger.observe(StoreTrace(view, loc, live, written), step=7, lanes=len(rows))

    def prefill(self, *slots: int, view: LayerView = APART) -> None:
        """One call of the store in a prefill: every row is live and writes where it should."""
        at = torch.tensor(slots)
        trace = StoreTrace(view, at, torch.ones(len(slots), dtype=torch.bool), at)
        self.ledger.observe(trace, step=7, lanes=None)

    def violations(self) -> list[dict[str, Any]]:
        return [event.fields for event in self.events.events if event.kind == "violation"]


def slot(page: int, entry: int = 0) -> int:
    return page * ENTRIES + entry


def test_live_rows_that_write_where_they_should_are_no_news() -> None:
    bench = Bench()
    bench.prefill(slot(1), slot(1, 1), slot(2))
    bench.decode((slot(1, 2), True, slot(1, 2)), (slot(2, 1), True, slot(2, 1)))
    bench.decode((slot(1, 2), True, slot(1, 2)))  # again: after a retraction, say
    assert bench.events.events == []
    assert bench.events.counters == {}


def test_dead_rows_that_the_store_skipped_are_no_news() -> None:
    bench = Bench()
    bench.decode((slot(1), True, slot(1)), (0, True, -1), (slot(2), False, -1))
    assert bench.events.counters == {}


@pytest.mark.parametrize("live", [True, False], ids=["incomplete", "padding"])
def test_a_dead_row_that_writes_the_reserved_slot_is_no_news(live: bool) -> None:
    bench = Bench()
    bench.decode((0, live, 0), (1, live, 1))
    assert bench.events.counters == {}


def test_a_dead_row_that_writes_a_free_page_is_counted_and_no_violation() -> None:
    bench = Bench()
    bench.decode((slot(3), False, slot(3)), (-1, True, slot(4)))
    assert bench.violations() == []
    assert bench.events.counters == {
        "dead_row_writes": 2,
        "dead_writes_padding": 1,
        "dead_writes_incomplete": 1,
    }


def test_a_dead_row_that_writes_an_owned_page_is_a_violation_with_its_evidence() -> None:
    bench = Bench()
    bench.decode(
        (slot(1), True, slot(1)), (slot(3), False, slot(3)), (slot(2, 5), False, slot(2, 5))
    )
    assert bench.violations() == [
        {
            "name": "padded_row_wrote_owned_slot",
            "n": 1,
            "step": 7,
            "row": 2,
            "dead": "padding",
            "slot": slot(2, 5),
            "page": 2,
            "owner": "request 2",
            "pool": "index_k",
            "layer": 0,
            "generation": 1,
            "writer": "padding lane 2 of decode step 7",
            "writer_kind": "padding",
            "writer_step": 7,
            "writer_lane": 2,
        }
    ]
    assert bench.events.counters["dead_row_writes"] == 2


def test_a_live_row_that_completes_nothing_is_named_apart_from_padding() -> None:
    bench = Bench()
    bench.decode((-1, True, slot(2, 63)), (-1, False, slot(2, 63)))
    [violation] = bench.violations()
    assert violation["dead"] == "incomplete"
    assert violation["n"] == 2
    assert violation["writer"] == "row 0 of decode step 7"
    assert violation["writer_kind"] == "decode"
    assert bench.events.counters["dead_writes_padding"] == 1
    assert bench.events.counters["dead_writes_incomplete"] == 1


def test_a_prefill_has_no_dead_rows() -> None:
    bench = Bench()
    bench.prefill(slot(1), slot(2))
    assert "dead_row_writes" not in bench.events.counters


def test_a_row_that_two_slots_share_names_the_slot_that_lost_it() -> None:
    bench = Bench()
    bench.prefill(slot(1, 32), view=ALIASED)
    bench.prefill(slot(2, 0), view=ALIASED)
    assert bench.violations() == [
        {
            "name": "row_shared_by_two_slots",
            "n": 1,
            "step": 7,
            "slot": slot(2, 0),
            "lost_slot": slot(1, 32),
            "owner": "request 1",
        }
    ]


def test_a_row_lost_by_the_cache_is_still_the_row_that_a_request_wrote() -> None:
    bench = Bench()
    bench.prefill(slot(1, 32), view=ALIASED)
    bench.owners.owner[1] = "cache"  # released: the page was not taken anew
    bench.prefill(slot(2, 0), view=ALIASED)
    [violation] = bench.violations()
    assert violation["owner"] == "cache"


def test_an_owner_that_came_after_the_write_lost_nothing() -> None:
    bench = Bench()
    bench.prefill(slot(1, 32), view=ALIASED)
    bench.owners.take(1, "request 3")
    bench.prefill(slot(2, 0), view=ALIASED)
    assert bench.violations() == []
    assert bench.events.counters == {"aliased_rows": 1}


def test_a_free_page_lost_nothing() -> None:
    bench = Bench()
    bench.prefill(slot(1, 32), view=ALIASED)
    del bench.owners.owner[1]
    bench.prefill(slot(2, 0), view=ALIASED)
    assert bench.violations() == []
    assert bench.events.counters == {"aliased_rows": 1}


def test_a_later_owner_that_has_written_does_lose_its_row() -> None:
    bench = Bench()
    bench.prefill(slot(1, 32), view=ALIASED)
    bench.owners.take(1, "request 3")
    bench.prefill(slot(1, 32), view=ALIASED)
    bench.prefill(slot(2, 0), view=ALIASED)
    [violation] = bench.violations()
    assert violation["owner"] == "request 3"
