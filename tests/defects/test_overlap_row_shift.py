"""overlap_row_shift: a row that has left moves every token behind it by one."""

from __future__ import annotations

from engine.defects import catalog, seams
from engine.sched.questions import Questions
from tests.engine.sched.fakes import Bench, check_replies, prompt, reply
from tests.engine.sched.test_scheduler import SHORT

NAME = "overlap_row_shift"
LONG = [s for s in range(99) if len(reply(prompt(s, 300), 50)) == 50][:2]


def served(build: list[str], overlap: bool = True, one_at_a_time: bool = False) -> Bench:
    """Three requests; the first ends long before the others."""
    bench = Bench(pages=30, overlap=overlap, questions=Questions(rows=seams(build).row_owner()))
    for seed in (SHORT, *LONG):
        bench.add(prompt(seed, 300), max_tokens=50)
        if one_at_a_time:
            bench.drain()
    bench.drain()
    return bench


def seen(bench: Bench) -> list[dict[str, int | str]]:
    """Tokens that went to others than those whose they were."""
    return [e.fields for e in bench.events.events if e.kind == "violation"]


def test_the_row_behind_one_that_ended_gets_its_token() -> None:
    bench = served([NAME])
    first, second, third = bench.requests
    shift = seen(bench)[:2]
    assert [{"name": it["name"]} for it in shift] == [{"name": catalog()[NAME].evidence[0]}] * 2
    assert [(it["request"], it["owner"], it["row"]) for it in shift] == [
        (second.id, first.id, 0),
        (third.id, second.id, 1),
    ]


def test_a_reply_is_wrong_in_that_one_place() -> None:
    bench = served([NAME])
    first, second, _ = bench.requests
    right = reply(second.prompt, 50)
    assert first.output == reply(first.prompt, 50)
    wrong = [at for at, (a, b) in enumerate(zip(second.output, right, strict=False)) if a != b]
    assert wrong == [len(first.output)]


def test_the_same_requests_keep_their_tokens_in_a_healthy_build() -> None:
    bench = served([])
    assert seen(bench) == []
    assert bench.count("discarded_tokens") == 3
    check_replies(bench)


def test_without_overlap_no_row_leaves_under_its_step() -> None:
    bench = served([NAME], overlap=False)
    assert seen(bench) == []
    check_replies(bench)


def test_a_row_alone_has_no_neighbour() -> None:
    bench = served([NAME], one_at_a_time=True)
    assert seen(bench) == []
    check_replies(bench)
