"""A load that reads a page not its own, or writes one in use, is seen once and named."""

from __future__ import annotations

import pytest

from engine.cache.tiers import HostPage
from tests.engine.pools.mirrored import Tiers


def test_a_host_page_handed_on_under_a_load_is_seen_once() -> None:
    tiers = Tiers(pool_pages=2, host_ratio=1)
    host = tiers.back_up([1])
    stages = tiers.host.load(host, [2])
    stages[0].move()
    assert tiers.counted("violation:") == {}
    tiers.host.free(host)
    assert tiers.take(2)  # everything: its page is among them
    for stage in stages[1:]:
        stage.move()
    assert tiers.counted("violation:") == {"violation:host_page_changed_under_load": 1}
    last = tiers.events.events[-1].fields
    assert (last["host_page"], last["page"]) == (host[0].anchor, 2)


def test_a_host_page_that_is_only_free_has_not_changed() -> None:
    tiers = Tiers()
    host = tiers.back_up([1])
    stages = tiers.host.load(host, [2])
    tiers.host.free(host)
    for stage in stages:
        stage.move()
    assert tiers.counted("violation:") == {}


@pytest.mark.parametrize("how", ["reserved", "never written", "written before it was freed"])
def test_a_load_of_a_page_that_no_backup_filled_is_seen(how: str) -> None:
    tiers = Tiers(pool_pages=2, host_ratio=1)
    host = [HostPage(0, 0)]
    if how == "never written":
        host = tiers.take(1)
    if how == "written before it was freed":
        tiers.host.free(tiers.back_up([1, 2]))
        host = tiers.take(1)
    tiers.restore(host, [2])
    assert tiers.counted("violation:host_hit") == {"violation:host_hit_on_unwritten_page": 1}
    assert tiers.events.events[0].fields["host_page"] == host[0].anchor


def test_a_load_into_a_page_that_somebody_uses_names_the_victim_once() -> None:
    tiers = Tiers()
    host = tiers.back_up([1, 2])
    stages = tiers.host.load(host, [4, 5])
    tiers.users.stale = [("request 7", 5)]
    for stage in stages:
        stage.move()
    assert tiers.counted("violation:") == {"violation:load_wrote_page_in_use": 1}
    fields = tiers.events.events[-1].fields
    assert (fields["victim"], fields["page"], fields["host_page"]) == (
        "request 7",
        5,
        host[1].anchor,
    )


def test_two_victims_of_one_load_are_one_event() -> None:
    tiers = Tiers()
    host = tiers.back_up([1, 2])
    tiers.users.stale = [("request 7", 4), ("request 8", 5)]
    tiers.restore(host, [4, 5])
    assert tiers.counted("violation:") == {"violation:load_wrote_page_in_use": 2}
    assert len(tiers.events.events) == 1


def test_a_victim_that_comes_late_is_seen_by_a_later_stage() -> None:
    tiers = Tiers()
    stages = tiers.host.load(tiers.back_up([1]), [4])
    for stage in stages[:-1]:
        stage.move()
    tiers.users.stale = [("request 7", 4)]
    stages[-1].move()
    assert tiers.counted("violation:") == {"violation:load_wrote_page_in_use": 1}


def test_a_backup_that_lands_after_its_host_page_was_handed_on_fills_it_for_nobody() -> None:
    tiers = Tiers(pool_pages=2, host_ratio=1)
    host = tiers.take(1)
    late = tiers.host.backup([1], host)
    tiers.host.free(host)
    taken = tiers.take(2)
    for stage in late:
        stage.move()
    tiers.restore([page for page in taken if page.anchor == host[0].anchor], [2])
    assert "violation:host_hit_on_unwritten_page" in tiers.counted("violation:")


def test_the_sliding_window_s_half_of_a_host_page_is_watched_too() -> None:
    seen = {}
    for seed in range(8):
        tiers = Tiers(pool_pages=2, host_ratio=1, seed=seed)
        host = tiers.back_up([1, 2])
        stages = tiers.host.load(host[:1], [2])
        tiers.host.free(host)
        taken = tiers.take(1)[0]  # the other's anchor page, and either's of the window
        assert taken.anchor == host[1].anchor
        for stage in stages:
            stage.move()
        changed = bool(tiers.counted("violation:host_page_changed"))
        seen[taken.swa == host[0].swa] = changed
    assert seen == {True: True, False: False}
