"""Requests whose prompt another engine computes: whoever is let in can run to its end."""

from __future__ import annotations

import random

import pytest

from engine.events import EventLog
from engine.pools.allocator import PageAllocator
from engine.request import Request, Status
from engine.sched.batch import DecodeBatch
from engine.sched.limits import Limits
from engine.sched.scheduler import Scheduler


def decoder(pages: int = 8, rows: int = 4) -> Scheduler:
    """A scheduler without a prefix cache, as a decode side has it."""
    return Scheduler(Limits(rows, 512), PageAllocator(pages), None, EventLog(lambda: 0))


def asked(number: int, prompt: int = 256, most: int = 256) -> Request:
    """A request of one page that may grow to two, unless told otherwise."""
    return Request(number, [number] * prompt, most)


def test_whoever_comes_in_has_the_pages_of_its_prompt_and_a_slot() -> None:
    sched, req = decoder(), asked(1, 300)
    assert sched.reserve(req)
    assert (len(req.pages), req.kv_len, req.status) == (2, 300, Status.RUNNING)
    assert req.req_slot
    assert not sched.idle
    assert sched.check() == []
    assert sched.next_batch() is None  # it is no row yet


def test_nobody_comes_in_who_could_not_grow_to_its_last_token() -> None:
    sched = decoder(pages=5)
    assert sched.reserve(asked(1))
    assert sched.reserve(asked(2))
    third = asked(3)
    assert not sched.reserve(third)  # one page is left, and it may want two
    assert (third.status, third.pages, third.req_slot) == (Status.WAITING, [], 0)
    assert sched.reserve(asked(4, most=1)) is False  # its own token has to go somewhere, too
    assert sched.reserve(asked(5, prompt=255, most=1))
    assert sched.check() == []


def test_a_row_s_growth_is_kept_for_it_and_what_it_grew_is_counted_once() -> None:
    sched, req = decoder(pages=4), asked(1)
    sched.reserve(req)
    sched.commit(req, 7)
    batch = sched.next_batch()
    assert isinstance(batch, DecodeBatch)
    assert len(req.pages) == 2  # grown to its last
    assert sched.reserve(asked(2))
    sched.finish(batch, [7])
    assert not sched.reserve(asked(3, prompt=1, most=1))
    assert sched.check() == []


def test_without_a_request_slot_nobody_comes_in() -> None:
    sched = decoder(pages=64, rows=2)
    assert sched.reserve(asked(1))
    assert sched.reserve(asked(2))
    assert not sched.reserve(asked(3))


def test_a_request_aborted_on_its_way_gives_everything_back() -> None:
    sched, req = decoder(), asked(1)
    sched.reserve(req)
    sched.abort(req)
    assert (req.finish_reason, req.pages, sched.idle) == ("abort", [], True)
    assert sched.holdings.allocator.available == 8
    assert sched.check() == []


def test_one_that_was_never_let_in_is_dropped() -> None:
    sched, req = decoder(), asked(1)
    sched.drop(req)
    assert (req.status, req.finish_reason) == (Status.ABORTED, "abort")
    assert sched.idle
    assert sched.check() == []


@pytest.mark.parametrize(("token", "most", "reason"), [(257, 9, "stop"), (7, 1, "length")])
def test_a_first_token_may_be_the_last(token: int, most: int, reason: str) -> None:
    sched, req = decoder(), asked(1, most=most)
    sched.reserve(req)
    sched.commit(req, token)
    assert (req.output, req.finish_reason) == ([token], reason)
    assert sched.next_batch() is None
    assert sched.holdings.allocator.available == 8
    assert sched.idle


@pytest.mark.parametrize("seed", range(20))
def test_nobody_who_was_let_in_is_ever_retracted(seed: int) -> None:
    rng = random.Random(seed)
    sched = decoder(pages=rng.randint(4, 10))
    waiting = [asked(n, rng.randint(1, 700), rng.randint(1, 300)) for n in range(1, 12)]
    requests = list(waiting)
    while not sched.idle or waiting:
        while waiting and sched.reserve(waiting[0]):
            sched.commit(waiting.pop(0), 7)
        batch = sched.next_batch()
        if batch is not None:
            sched.finish(batch, [7] * len(batch.sampled))
        assert sched.check() == []
    assert [len(req.output) for req in requests] == [req.max_tokens for req in requests]
    assert "retractions" not in sched.events.counters
