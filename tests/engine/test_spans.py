"""What took up time is told beside the history, never in it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from engine.events import EventLog
from engine.spans import span
from tests.engine.waves import MINE, OTHERS, Waves, config, play


def spans_of(events: EventLog, track: str) -> list[dict[str, Any]]:
    """The fields of a track's spans, in the order in which they were told."""
    told = [event.fields for event in events.events if event.kind == "span"]
    return [fields for fields in told if fields["track"] == track]


@cache
def served(**toggles: Any) -> EventLog:
    """What an engine tells that serves three sessions, two others, and two of the first again."""

    async def story(waves: Waves) -> None:
        await waves.wave(OTHERS, 2)
        await waves.wave(MINE, 2)
        await waves.wave(OTHERS[:2], 2)

    return play(config(**toggles), story).engine.events


def test_a_span_is_in_microseconds_and_no_part_of_the_digest() -> None:
    log = EventLog(lambda: 5)
    before = log.digest()
    span(log, "load", "load", 0.25, 0.5000004, pages=3)
    [fields] = spans_of(log, "load")
    assert (fields["start_us"], fields["end_us"], fields["pages"]) == (250_000, 500_000, 3)
    assert log.digest() == before


@pytest.mark.parametrize("overlap", [False, True])
def test_every_step_is_told_and_none_begins_before_the_last_one_ends(overlap: bool) -> None:
    events = served(overlap=overlap)
    steps = spans_of(events, "compute")
    kinds = [event.kind for event in events.events if event.kind in ("prefill", "decode")]
    assert [step["name"] for step in steps] == kinds
    for step, following in pairwise(steps):
        assert step["start_us"] < step["end_us"] <= following["start_us"]


def test_a_step_says_its_rows_and_a_prefill_whose_prompts_it_computes() -> None:
    events = served()
    steps = spans_of(events, "compute")
    prefills = [it for it in steps if it["name"] == "prefill"]
    assert all(it["rows"] == len(it["requests"].split()) for it in prefills)
    assert sum(it["tokens"] for it in prefills) == events.counters["prefill_tokens"]
    decodes = [it for it in steps if it["name"] == "decode"]
    assert sum(it["rows"] for it in decodes) == events.counters["decode_rows"]
    assert all(it["size"] >= it["rows"] for it in decodes)


def test_a_step_bears_the_number_of_the_last_pass_through_the_model() -> None:
    last = 0
    for step in spans_of(served(), "compute"):
        last += step["rows"] if step["name"] == "prefill" else 1
        assert step["step"] == last


def test_copies_of_either_direction_are_told_with_their_pages() -> None:
    events = served()
    backups, loads = spans_of(events, "backup"), spans_of(events, "load")
    assert sum(it["pages"] for it in loads) == events.counters["pages_restored"]
    assert backups and loads
    assert all(it["start_us"] < it["end_us"] for it in (*backups, *loads))


def test_a_step_says_how_many_pages_are_free_beside_it() -> None:
    free = [step["free"] for step in spans_of(served(), "compute")]
    assert all(0 <= pages < 18 for pages in free)
    assert min(free) < max(free)
