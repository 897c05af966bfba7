"""A full pool takes pages back from a row, and the row still gets its reply."""

from __future__ import annotations

import pytest

from engine.request import Request, Status
from engine.sched.retraction import headroom, victim
from tests.engine.sched.fakes import Bench, check_idle, check_replies, prompt, reply

PAIR = [s for s in range(400) if len(reply(prompt(s, 500), 60)) == 60][:2]


def row(number: int, prompt_tokens: int, output: int) -> Request:
    return Request(number, [0] * prompt_tokens, 9, output=[0] * output)


def test_the_row_with_the_least_output_goes() -> None:
    assert victim([row(1, 9, 5), row(2, 9, 3), row(3, 9, 4)]).id == 2


def test_among_equals_the_longest_prompt_goes_then_the_latest() -> None:
    assert victim([row(1, 8, 3), row(2, 9, 3), row(3, 9, 3)]).id == 3
    assert victim([row(1, 9, 3), row(2, 8, 3)]).id == 1


def test_only_a_retracted_request_waits_for_headroom() -> None:
    assert headroom(row(1, 9, 0), running=5) == 0
    assert headroom(row(1, 9, 1), running=5) == 5


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
@pytest.mark.parametrize("radix", [True, False], ids=["radix", "no radix"])
def test_a_full_pool_retracts_and_both_replies_are_right(overlap: bool, radix: bool) -> None:
    bench = Bench(pages=5, overlap=overlap, radix=radix, chunked_prefill=1024)
    first, second = (bench.add(prompt(seed, 500), max_tokens=60) for seed in PAIR)
    waited: list[Request] = []
    while bench.step():
        waited += [r for r in bench.requests if r.status is Status.WAITING and r.output]
        assert bench.sched.check() == []
    assert bench.count("retractions") == 1
    assert waited[0] is second
    assert waited[0].finish_reason == "length"
    assert first.cached_tokens == second.cached_tokens == 0  # its own pages are no cache hit
    check_replies(bench)
    check_idle(bench)


def test_the_pipeline_is_drained_before_a_row_is_retracted() -> None:
    bench = Bench(pages=5, overlap=True, chunked_prefill=1024)
    for seed in PAIR:
        bench.add(prompt(seed, 500), max_tokens=60)
    bench.drain()
    [retract] = [event.fields for event in bench.events.events if event.kind == "retract"]
    assert retract["kv"] == 500 + int(retract["output"]) - 1  # no token is in flight


def test_a_lone_row_that_pins_what_it_also_holds_starts_again_at_once() -> None:
    bench = Bench(pages=6, chunked_prefill=2048)
    bench.add(prompt(PAIR[0], 768), max_tokens=1)
    twin = bench.add(prompt(PAIR[0], 768), max_tokens=9)  # computes the same three pages again
    bench.step()
    assert bench.step()
    assert bench.count("retractions") == 1
    assert twin.status is Status.RUNNING
    bench.drain()
    check_replies(bench)


def test_a_retracted_request_goes_before_those_that_wait() -> None:
    bench = Bench(pages=5, chunked_prefill=1024)
    for seed in PAIR:
        bench.add(prompt(seed, 500), max_tokens=60)
    bench.step()
    bench.add(prompt(7, 300))
    while not bench.count("retractions"):
        bench.step()
    assert [req.id for req in bench.sched.queue.waiting] == [2, 3]


def test_a_retracted_row_finds_its_own_pages_again_and_that_is_no_prefix_hit() -> None:
    bench = Bench(pages=5, chunked_prefill=1024)
    for seed in PAIR:
        bench.add(prompt(seed, 500), max_tokens=60)
    bench.drain()
    again = [event.fields for event in bench.events.events if event.kind == "admit"][-1]
    assert again["request"] == 2
    assert again["cached"] == 512  # two full pages
    assert bench.count("retraction_hits") == 1
    assert bench.count("prefix_hits") == bench.count("prefix_hit_tokens") == 0
