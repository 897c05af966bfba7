"""What a pair leaves unexercised, and what it does not have to exercise."""

from __future__ import annotations

import pytest

from lab.exposure import EXERCISED_BY, unexercised
from lab.toggles import TOGGLES, defaults

QUIET = {**defaults(), "radix": False, "graph": False}  # both are on by default
PAIR = {**QUIET, "pd": True}


@pytest.mark.parametrize("key", EXERCISED_BY)
def test_what_can_be_left_unexercised_is_a_toggle(key: str) -> None:
    assert key in TOGGLES.all()


def test_a_pair_that_transferred_nothing_was_not_exercised() -> None:
    assert unexercised(PAIR, {"rooms": 3}) == ["pd"]
    assert unexercised(PAIR, {"transfers": 1}) == []


def test_ranks_that_never_agreed_on_anything_were_not_exercised() -> None:
    ranks = {**PAIR, "tp": 2}
    assert unexercised(ranks, {"transfers": 1}) == ["tp"]
    assert unexercised(ranks, {"transfers": 1, "collectives": 8}) == []


@pytest.mark.parametrize("settings", [{**PAIR, "tp": 1}, {**QUIET, "tp": 4}])
def test_one_rank_has_nothing_to_agree_on(settings: dict[str, object]) -> None:
    assert unexercised(settings, {"transfers": 1}) == []


def test_pages_kept_for_failed_rooms_need_no_failed_room() -> None:
    assert unexercised({**PAIR, "deferred_release": True}, {"transfers": 1}) == []


def test_prefix_caching_of_somebody_s_server_must_have_hit_where_it_counts_hits() -> None:
    vllm = {"prefix_caching": True}
    assert unexercised(vllm, {"prefix_hits": 0}, foreign=True) == ["prefix_caching"]
    assert unexercised(vllm, {"prefix_hits": 640}, foreign=True) == []
    assert unexercised(vllm, {}, foreign=True) == []
