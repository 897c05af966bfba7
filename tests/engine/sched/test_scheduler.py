"""Who runs when: admission, chunks, prefixes, rows, ends and refusals."""

from __future__ import annotations

import pytest

from engine.config import EngineConfig
from engine.errors import ConfigError, RequestRefused
from engine.request import Status
from engine.sched.batch import DecodeBatch, PrefillBatch
from engine.sched.limits import Limits
from engine.sched.scheduler import Scheduler
from tests.engine.sched.fakes import Bench, check_idle, check_replies, prompt, reply

LONG = next(s for s in range(99) if len(reply(prompt(s, 300), 40)) == 40)  # runs to max_tokens
SHORT = next(s for s in range(99) if 2 < len(reply(prompt(s, 300), 40)) < 20)  # ends by itself

BOTH = pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])


def spans(batch: object) -> list[tuple[int, int, int, bool]]:
    assert isinstance(batch, PrefillBatch)
    return [(c.req.id, c.start, c.end, c.last) for c in batch.chunks]


@BOTH
@pytest.mark.parametrize(("seed", "reason"), [(LONG, "length"), (SHORT, "stop")])
def test_a_request_gets_its_reply_and_says_why_it_ended(
    overlap: bool, seed: int, reason: str
) -> None:
    bench = Bench(overlap=overlap)
    req = bench.add(prompt(seed, 300), max_tokens=40)
    bench.drain()
    assert (req.output, req.finish_reason) == (reply(req.prompt, 40), reason)
    check_idle(bench)


@BOTH
def test_a_stop_condition_ends_a_request(overlap: bool) -> None:
    bench = Bench(overlap=overlap)
    hook = lambda req: "stop" if len(req.output) == 5 else None  # noqa: E731
    bench.sched = Scheduler(bench.limits, bench.pool, bench.cache, bench.events, should_stop=hook)
    bench.loop.scheduler = bench.sched  # type: ignore[attr-defined]
    req = bench.add(prompt(LONG, 300))
    bench.drain()
    assert (len(req.output), req.finish_reason) == (5, "stop")


def test_prompts_are_cut_at_whole_pages_and_share_a_step() -> None:
    bench = Bench(chunked_prefill=512)
    bench.add(prompt(1, 700))
    bench.add(prompt(2, 400))
    bench.add(prompt(3, 10))
    bench.drain()
    cut = [spans(b) for b in bench.model.batches if isinstance(b, PrefillBatch)]
    assert cut == [
        [(1, 0, 512, False)],
        [(1, 512, 700, True), (2, 0, 256, False)],  # 324 tokens were left: one whole page
        [(2, 256, 400, True), (3, 0, 10, True)],
    ]


def test_waiting_prompts_go_before_running_rows() -> None:
    bench = Bench()
    bench.add(prompt(LONG, 300))
    bench.step()
    bench.add(prompt(2, 300))
    bench.step()
    bench.step()
    kinds = [type(batch) for batch in bench.model.batches]
    assert kinds == [PrefillBatch, PrefillBatch, DecodeBatch]


def test_rows_keep_their_order_when_one_leaves() -> None:
    bench = Bench()
    reqs = [bench.add(prompt(LONG, 300)) for _ in range(3)]
    bench.step()
    bench.step()
    bench.sched.abort(reqs[1])
    bench.step()
    last = bench.model.batches[-1]
    assert isinstance(last, DecodeBatch)
    assert last.reqs == [reqs[0], reqs[2]]


def test_a_second_turn_reuses_the_pages_of_the_first() -> None:
    bench = Bench()
    first = bench.add(prompt(LONG, 500))
    bench.drain()
    second = bench.add([*first.tokens, *prompt(2, 100)])
    bench.drain()
    assert (first.cached_tokens, second.cached_tokens) == (0, 512)
    check_replies(bench)


def test_a_prompt_is_shared_while_its_first_reader_still_runs() -> None:
    bench = Bench(chunked_prefill=512)
    bench.add([*prompt(1, 512), 1])
    bench.step()
    other = bench.add([*prompt(1, 512), 2])
    bench.step()
    assert other.cached_tokens == 512


def test_without_a_radix_cache_nothing_is_kept() -> None:
    bench = Bench(radix=False)
    first = bench.add(prompt(LONG, 600))
    bench.drain()
    second = bench.add([*first.tokens, 1])
    bench.drain()
    assert (second.cached_tokens, bench.pool.available) == (0, bench.pages)
    check_replies(bench)


def test_no_more_requests_run_than_there_are_rows() -> None:
    bench = Bench(max_running=2, chunked_prefill=2048)
    reqs = [bench.add(prompt(LONG, 300)) for _ in range(3)]
    bench.step()
    assert [req.req_slot for req in reqs] == [1, 2, 0]
    assert reqs[2].status is Status.WAITING
    bench.drain()
    check_replies(bench)


def test_nobody_overtakes_a_request_that_does_not_fit_yet() -> None:
    bench = Bench(pages=6)
    bench.add(prompt(LONG, 1000))
    big, small = bench.add(prompt(2, 1000)), bench.add(prompt(3, 10))
    bench.step()
    bench.step()
    bench.step()
    assert (big.status, small.status) == (Status.WAITING, Status.WAITING)
    bench.drain()
    check_replies(bench)


def test_cached_prefixes_make_way_for_a_prompt() -> None:
    bench = Bench(pages=6)
    bench.add(prompt(1, 1000))
    bench.drain()
    bench.add(prompt(2, 1100))
    bench.drain()
    assert bench.count("evicted_pages") == 2
    check_replies(bench)


@pytest.mark.parametrize(
    ("length", "max_tokens", "word"),
    [(8000, 193, "context"), (3000, 100, "pages"), (0, 5, "prompt"), (5, 0, "max_tokens")],
)
def test_what_can_never_be_served_is_refused(length: int, max_tokens: int, word: str) -> None:
    bench = Bench(pages=12)
    with pytest.raises(RequestRefused, match=word):
        bench.add(prompt(1, length), max_tokens)
    assert bench.sched.idle


@BOTH
def test_a_request_that_just_fits_is_served(overlap: bool) -> None:
    bench = Bench(pages=3, overlap=overlap)
    req = bench.add(prompt(LONG, 300), max_tokens=3 * 256 - 300)
    bench.drain()
    assert req.output == reply(req.prompt, req.max_tokens)


def test_limits_come_from_the_configuration() -> None:
    assert Limits.of(EngineConfig(max_running=7)) == Limits(7, 2048, 8192)
    with pytest.raises(ConfigError, match="whole pages"):
        Limits(chunked_prefill=100)
