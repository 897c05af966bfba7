"""Shortening, on made-up failures: what is left fails, and nothing of it could be left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lab.replaying.schedule import Schedule
from lab.replaying.shortening import Tries, shortened

KEYS = ("engine.graph", "engine.index_k", "workload.think_s")
WHOLE = Schedule(tuple(range(8)), (4,) * 8, KEYS)


def needs(turns: dict[int, int], *keys: str) -> Callable[[Schedule], bool]:
    """A failure that takes so many turns of these sessions, and these settings."""

    def fails(some: Schedule) -> bool:
        has = dict(zip(some.sessions, some.turns, strict=True))
        return all(has.get(it, 0) >= n for it, n in turns.items()) and set(keys) <= set(some.kept)

    return fails


@pytest.mark.parametrize(
    ("turns", "keys"),
    [({5: 1}, ()), ({0: 3, 7: 1}, KEYS[:2]), ({2: 2, 3: 2, 6: 4}, KEYS), ({1: 4}, KEYS[2:])],
)
def test_what_a_failure_takes_is_left_and_nothing_else(
    turns: dict[int, int], keys: tuple[str, ...]
) -> None:
    found = shortened(WHOLE, Tries(needs(turns, *keys), 1000))
    assert found == Schedule(tuple(turns), tuple(turns.values()), keys)


def test_settings_that_go_may_let_sessions_go() -> None:
    def fails(some: Schedule) -> bool:
        return len(some.sessions) >= (2 if "engine.graph" in some.kept else 1)

    assert shortened(WHOLE, Tries(fails, 1000)) == Schedule((0,), (1,), ())


def test_what_fails_only_whole_is_left_whole() -> None:
    assert shortened(WHOLE, Tries(lambda some: some == WHOLE, 1000)) == WHOLE


def test_no_schedule_is_run_twice() -> None:
    asked: list[Schedule] = []

    def fails(some: Schedule) -> bool:
        asked.append(some)
        return needs({0: 3, 7: 1}, KEYS[0])(some)

    tries = Tries(fails, 1000)
    shortened(WHOLE, tries)
    assert len(set(asked)) == len(asked) == tries.used
    assert not tries.short


@pytest.mark.parametrize("most", range(0, 21, 3))
def test_with_few_tries_the_last_that_failed_is_the_answer(most: int) -> None:
    asked: list[Schedule] = [WHOLE]

    def fails(some: Schedule) -> bool:
        asked.append(some)
        return needs({0: 3, 7: 1}, KEYS[0])(some)

    tries = Tries(fails, most)
    found = shortened(WHOLE, tries)
    assert tries.used == len(asked) - 1 <= most
    assert tries.short
    assert found == [one for one in asked if needs({0: 3, 7: 1}, KEYS[0])(one)][-1]


def test_equal_failures_are_shortened_alike() -> None:
    found = [shortened(WHOLE, Tries(needs({2: 2, 3: 2}), 20)) for _ in range(2)]
    assert found[0] == found[1]


def test_what_may_not_fail_is_not_run() -> None:
    tries = Tries(needs({0: 1}), 1000, may=lambda some: some.has(5, 2))
    assert shortened(WHOLE, tries) == Schedule((0, 5), (1, 3), ())
    ran = tries.used
    assert not tries(Schedule((0,), (1,), ())) and tries.used == ran
