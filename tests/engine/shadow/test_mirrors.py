"""A page that comes back other than it went is seen, and its pool is named."""

from __future__ import annotations

import pytest
from torch import Tensor

from engine.shadow.host_watch import HostWatch
from engine.shadow.mirrors import MirrorWatch
from kernels.ops import Ops
from tests.engine.pools.mirrored import POOLS, Tiers


def damage(tiers: Tiers, pool: str, page: int, at: int = 9) -> None:
    """One bit of one byte of a device page, in the pool's last layer."""
    tiers.pool(pool).layers[-1].pages[page, at] ^= 1


def deferred(tiers: Tiers) -> MirrorWatch:
    """A watch of its own, that answers later, as on a GPU."""
    pools = [tiers.pool(name) for name in POOLS]
    watch = MirrorWatch(pools, Ops.reference().page_digest, tiers.events, HostWatch())
    watch.deferred = True
    return watch


def test_a_page_that_comes_back_as_it_went_is_counted_and_nothing_else() -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    tiers.restore(tiers.back_up([1, 2]), [3, 4])
    assert tiers.events.counters["pages_checked"] == 4  # two acknowledged, two restored
    assert tiers.events.events == []


def test_every_pool_has_its_counter_from_the_start() -> None:
    counters = Tiers().events.counters
    assert {name for name in counters if name.startswith("restored_differs:")} == {
        f"restored_differs:{pool}" for pool in POOLS
    }
    assert counters["pages_checked"] == 0


@pytest.mark.parametrize("pool", POOLS)
def test_a_bit_lost_on_the_host_names_its_pool_page_and_host_page(pool: str) -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    host = tiers.back_up([1, 2])
    mirror = next(mirror for mirror in tiers.host.pools if mirror.name == pool)
    at = host[1].swa if pool == "swa" else host[1].anchor
    mirror.layout.by_page(mirror.buffer)[at, -1, 9] ^= 1
    tiers.restore(host, [3, 4])
    assert tiers.counted("restored_differs:") == {f"restored_differs:{pool}": 1}
    event = tiers.events.events[-1].fields
    assert (event["name"], event["pool"], event["page"], event["host_page"], event["n"]) == (
        "restored_page_differs",
        pool,
        4,
        host[1].anchor,
        1,
    )


@pytest.mark.parametrize("pool", POOLS)
def test_a_page_that_changes_before_its_backup_is_acknowledged_is_seen(pool: str) -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    host = tiers.take(1)
    for stage in tiers.host.backup([1], host):
        stage.move()
    damage(tiers, pool, 1)
    tiers.host.settled([1], host)
    assert tiers.counted("violation:") == {"violation:page_changed_under_backup": 1}
    fields = tiers.events.events[-1].fields
    assert (fields["pool"], fields["page"], fields["host_page"]) == (pool, 1, host[0].anchor)


def test_rows_of_a_page_that_change_places_are_seen() -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    host = tiers.back_up([1])
    mirror = next(mirror for mirror in tiers.host.pools if mirror.name == "c4")
    page = mirror.layout.by_page(mirror.buffer)[host[0].anchor, 0]
    one, other = page[:576].clone(), page[576:1152].clone()
    page[:576], page[576:1152] = other, one
    tiers.restore(host, [4])
    assert tiers.counted("restored_differs:") == {"restored_differs:c4": 1}


def test_padding_is_no_data_and_may_differ() -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    host = tiers.back_up([1])
    for mirror in tiers.host.pools:
        rows, used = mirror.layout.by_page(mirror.buffer), mirror.layout
        last = used.planes[-1]
        rows[..., used.offset(last.name) + last.row_bytes * used.page_tokens :] ^= 1
    tiers.restore(host, [4])
    assert tiers.events.events == []


def test_a_load_is_held_against_what_its_host_page_held_when_it_was_issued() -> None:
    tiers = Tiers(pool_pages=2, host_ratio=1)
    tiers.scribble(range(3))
    host = tiers.back_up([1])
    stages = tiers.host.load(host, [2])
    tiers.host.free(host)
    tiers.scribble([1])
    for stage in tiers.host.backup([1, 1], tiers.take(2)):
        stage.move()
    for stage in stages:
        stage.move()
    counted = tiers.counted("violation:")
    assert counted.pop("violation:host_page_changed_under_load") == 1
    assert counted.pop("violation:restored_page_differs") >= 1
    assert counted == {}


def test_a_page_of_which_no_backup_is_known_is_not_judged() -> None:
    tiers = Tiers()
    tiers.restore(tiers.take(1), [2])
    assert tiers.events.counters["pages_checked"] == 0
    assert tiers.counted("violation:restored") == {}


def test_where_answers_are_deferred_a_copy_that_lands_reads_nothing_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    watch = deferred(tiers)
    with monkeypatch.context() as patched:
        patched.setattr(Tensor, "tolist", None)
        watch.backed_up([1, 2], [5, 6])
        expected = [watch.expected(page) for page in (5, 6)]
        damage(tiers, "c4", 2)
        watch.restored([1, 2], [5, 6], expected)
        watch.restored([1, 2], [5, 6], [None, None])
    assert tiers.counted("violation:") == {}
    watch.poll()
    watch.poll()
    assert tiers.counted("violation:") == {"violation:restored_page_differs": 1}
    fields = tiers.events.events[-1].fields
    assert (fields["pool"], fields["page"], fields["host_page"]) == ("c4", 2, 6)


@pytest.mark.parametrize("then", ["load", "acknowledgement"])
def test_what_was_deferred_is_judged_between_steps(then: str) -> None:
    tiers = Tiers()
    tiers.scribble(range(7))
    watch = deferred(tiers)
    watch.backed_up([1, 2], [5, 6])
    expected = watch.expected(6)
    damage(tiers, "swa", 2)
    watch.restored([2], [6], [expected])
    if then == "load":
        watch.expected(5)
    else:
        watch.settled([1], [5])
    assert tiers.counted("violation:") == {"violation:restored_page_differs": 1}
