"""A toggle that was never exercised says why, from the arm's counters, and what would reach it."""

from __future__ import annotations

import pytest

from lab.remedies import WHY, explained
from lab.toggles import TOGGLES

SETTINGS = {"pool_pages": 832, "hicache_write": "write_through", "hisparse_buffer": 512}


def hicache(policy: str = "write_through", **counters: int) -> str:
    return explained("hicache", {**SETTINGS, "hicache_write": policy}, counters)


def test_a_pool_that_evicted_nothing_is_too_large() -> None:
    said = hicache(pages_backed_up=312)
    assert "nothing left the device, 0 pages evicted, 312 backed up, the device has 832" in said
    assert "lower engine.pool_pages or raise workload.sessions" in said


def test_a_server_that_counts_in_tokens_is_told_of_in_tokens() -> None:
    assert "0 tokens evicted: lower engine.max_total_tokens" in hicache(evicted_tokens=0)
    assert "1,200 tokens evicted, and none came back" in hicache(evicted_tokens=1200)


def test_what_was_evicted_and_saved_was_not_asked_for_again() -> None:
    said = hicache(evicted_pages=1200, pages_backed_up=900)
    assert "1,200 pages evicted, 900 backed up, and nobody came back for them" in said
    assert "round_robin or a_flood_a, or workload.think_s" in said and "host_ratio" not in said


def test_what_left_the_host_as_well_asks_for_a_larger_host() -> None:
    said = hicache(evicted_pages=1200, pages_backed_up=900, host_evicted_pages=40)
    assert "40 left the host too, raise engine.host_ratio" in said


def test_a_policy_that_saved_few_is_to_be_changed() -> None:
    said = hicache("write_through_selective", evicted_pages=1200, pages_backed_up=100)
    assert "1,200 pages evicted, 100 backed up: write_through_selective waits for a second" in said
    assert "another engine.hicache_write" in said


def test_half_of_what_was_evicted_is_no_longer_few() -> None:
    assert "saved few of them" in hicache(evicted_pages=1201, pages_backed_up=600)
    assert "nobody came back" in hicache(evicted_pages=1200, pages_backed_up=600)


def test_a_full_host_is_named_where_it_is_why_nothing_was_saved() -> None:
    said = hicache("write_back", evicted_pages=1200, backups_refused=30)
    assert "30 backups refused, the host was full: raise engine.host_ratio" in said


def test_a_device_without_room_for_what_would_come_back_is_named() -> None:
    said = hicache(evicted_pages=1200, pages_backed_up=900, load_backs_refused=7)
    assert "7 restores refused, the device had no room" in said


def test_a_hot_buffer_that_held_everything_is_too_large() -> None:
    said = explained("hisparse", SETTINGS, {"hisparse_hits": 4096})
    assert "all 4,096 entries read fit the 512 entries of the device buffer" in said
    assert "lower engine.hisparse_buffer" in said


def test_a_hot_buffer_that_nobody_read_says_so() -> None:
    assert "no decode step read a compressed entry" in explained("hisparse", SETTINGS, {})


def test_a_pair_that_opened_no_room_says_so() -> None:
    said = explained("pd", SETTINGS, {})
    assert said == "pd (no room was opened: raise workload.sessions)"


def test_rooms_that_all_failed_say_of_which_timeout() -> None:
    counters = {"rooms": 12, "rooms_failed": 12, "bootstrap_timeouts": 9, "waiting_timeouts": 3}
    said = explained("pd", SETTINGS, counters)
    assert "12 of 12 rooms failed, 9 were not told their pages in time, 3 did not get" in said
    assert "raise engine.bootstrap_timeout, engine.waiting_timeout or" in said


def test_a_toggle_without_an_explainer_is_its_name() -> None:
    assert explained("graph", {"graph": True}, {}) == "graph"


@pytest.mark.parametrize("key", WHY)
def test_who_explains_is_a_toggle(key: str) -> None:
    assert key in TOGGLES.all()
