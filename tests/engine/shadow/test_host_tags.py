"""What a row holds goes to the host and comes back with its bytes, as far as those go."""

from __future__ import annotations

import numpy as np
import pytest

from engine.cache.tiers import HostPage
from engine.shadow.chains import DAMAGED, UNWRITTEN
from tests.engine.shadow.host_world import GROUPS, Shadowed

EACH = pytest.mark.parametrize(("pool", "layer"), GROUPS, ids=str)


@EACH
def test_rows_come_back_as_they_went_and_by_the_load(pool: str, layer: int) -> None:
    tiers = Shadowed()
    tiers.step([1, 2])
    before = [tiers.chains(pool, page, layer) for page in (1, 2)]
    host = tiers.back_up([1, 2])
    tiers.restore(host, [5, 4])
    for page, held in zip((5, 4), before, strict=True):
        assert np.array_equal(tiers.chains(pool, page, layer), held)
    assert tiers.writer(pool, 5, layer=layer).startswith("load 1 of host page")
    assert tiers.events.counters.get("violation:unordered_access", 0) == 0


def test_the_load_says_where_its_bytes_come_from() -> None:
    tiers = Shadowed()
    tiers.step([1])
    tiers.now_us = 812
    host = tiers.back_up([1])
    tiers.restore(host, [5])
    source = "which backup 1 filled at 812 us"
    assert tiers.writer("c4", 5) == f"load 1 of host page {host[0].anchor}, {source}"
    assert tiers.writer("swa", 5) == f"load 1 of host page {host[0].swa}, {source}"


def test_rows_come_layer_by_layer_as_their_stage_lands() -> None:
    tiers = Shadowed()
    tiers.step([1])
    stages = tiers.host.load(tiers.back_up([1]), [5])
    came = []
    for stage in stages:
        stage.move()
        came.append([group for group in GROUPS if (tiers.chains(group[0], 5, group[1]) != 0).all()])
    assert came == [[("swa", 0)], [("swa", 0)], [("swa", 0), ("c128", 0)], GROUPS]


def test_a_row_that_comes_back_is_of_the_page_s_generation_then() -> None:
    tiers = Shadowed()
    tiers.step([1])
    host = tiers.back_up([1])
    tiers.memory.freed([5], "the cache")
    tiers.memory.taken([5])
    tiers.restore(host, [5])
    assert set(tiers.group("c4").take[tiers.group("c4").shape.slots_of(5)]) == {2}


def test_a_page_that_a_load_was_given_behind_the_allocator_is_of_a_new_generation() -> None:
    tiers = Shadowed()
    tiers.step([1, 5])
    host = tiers.back_up([1])
    tiers.bumped = [5]
    stages = tiers.host.load(host, [5])
    tiers.bumped = []
    for stage in stages:
        stage.move()
    assert tiers.memory.book.generation[5] == 2
    assert set(tiers.group("c4").take[tiers.group("c4").shape.slots_of(5)]) == {2}


def test_a_reader_of_a_restored_page_must_look_again() -> None:
    tiers = Shadowed()
    tiers.step([1])
    stages = tiers.host.load(tiers.back_up([1]), [5])
    seen = [int(tiers.memory.book.version[5])]
    for stage in stages:
        stage.move()
        seen.append(int(tiers.memory.book.version[5]))
    assert len(set(seen)) == len(seen)
    assert tiers.memory.book.version[1] < seen[0] + 1


@pytest.mark.parametrize("host_page", ["reserved", "never filled"])
def test_what_no_backup_filled_comes_back_unwritten(host_page: str) -> None:
    tiers = Shadowed()
    tiers.step([5])
    host = [HostPage(0, 0)] if host_page == "reserved" else tiers.take(1)
    tiers.restore(host, [5])
    assert set(tiers.chains("index_k", 5)) == {UNWRITTEN}
    assert tiers.writer("c4", 5) == f"load 1 of host page {host[0].anchor}, which no backup filled"


def test_a_backup_that_runs_ahead_of_its_step_keeps_what_was_there() -> None:
    tiers = Shadowed()
    host = tiers.take(1)
    [stage] = tiers.host.backup([1], host)
    stage.move()
    tiers.step([1])
    tiers.restore(host, [5])
    assert set(tiers.chains("c4", 5)) == {UNWRITTEN}


@pytest.mark.parametrize(
    "sizes",
    [
        {"build": ("host_mirror_sized_as_fp8",)},
        {"build": ("dsa_mirror_by_class_dtype",), "host_strategy": "dsa"},
    ],
    ids=lambda sizes: sizes["build"][0],
)
def test_of_a_mirror_too_small_only_the_first_33_rows_are_moved(sizes: dict[str, object]) -> None:
    tiers = Shadowed(index_k="bf16", **sizes)
    tiers.step([1])
    moved = tiers.chains("index_k", 1)
    host = tiers.back_up([1])
    other = tiers.step([5], "prefill step 2")
    kept = tiers.chains("index_k", 5)
    tiers.restore(host, [5])
    now = tiers.chains("index_k", 5)
    assert np.array_equal(now[:33], moved[:33])
    assert np.array_equal(now[33:], kept[33:])
    group = tiers.group("index_k")
    assert set(group.op[group.shape.slots_of(5)[33:]]) == {other}
    assert np.array_equal(tiers.chains("c4", 5), tiers.chains("c4", 1))


def test_rows_cut_by_the_end_of_what_crosses_are_nobody_s() -> None:
    tiers = Shadowed()
    mirror = tiers.host.shadow.tags.mirrors["index_k"]  # type: ignore[attr-defined]
    tiers.step([1])
    mirror._whole, mirror._torn = np.arange(40), np.array([40])
    tiers.restore(tiers.back_up([1]), [5])
    held = tiers.chains("index_k", 5)
    assert (held[40], held[41]) == (DAMAGED, UNWRITTEN)
    assert (held[:40] > 0).all()


def test_a_page_that_differs_by_its_bytes_alone_is_damaged_in_that_layer() -> None:
    tiers = Shadowed()
    tiers.scribble(range(7))
    tiers.step([1])
    host = tiers.back_up([1])
    mirror = next(pool for pool in tiers.host.pools if pool.name == "swa")
    mirror.layout.by_page(mirror.buffer)[host[0].swa, 2, 9] ^= 1
    tiers.restore(host, [5])
    assert set(tiers.chains("swa", 5, 2)) == {DAMAGED}
    assert (tiers.chains("swa", 5, 1) > 0).all()
    [event] = tiers.violations("restored_page_differs")
    assert event["writer"] == f"load 1 of host page {host[0].swa}, which backup 1 filled at 0 us"
    assert (event["writer_kind"], event["generation"]) == ("load", 1)


def test_a_page_whose_tags_know_the_damage_is_not_damaged_as_a_whole() -> None:
    tiers = Shadowed(index_k="bf16", build=("host_mirror_sized_as_fp8",))
    tiers.scribble(range(7))
    tiers.step([1, 5])
    host = tiers.back_up([1])
    tiers.scribble([5])
    tiers.memory.taken([5])
    tiers.restore(host, [5])
    [event] = tiers.violations("restored_page_differs")
    assert (event["page"], event["rows_left"]) == (5, 31)
    assert (tiers.chains("index_k", 5) != DAMAGED).all()


def test_pages_that_share_rows_change_with_those_that_a_load_fills() -> None:
    tiers = Shadowed(index_k="bf16", build=("index_k_under_allocated",))
    tiers.step([2])
    host = tiers.back_up([2])
    before = tiers.memory.book.version.copy()
    tiers.restore(host, [4])
    changed = np.flatnonzero(tiers.memory.book.version != before)
    assert changed.tolist() == [3, 4, 5]


def test_what_is_judged_late_is_the_copy_s_and_not_the_next_owner_s() -> None:
    tiers = Shadowed()
    watch = tiers.host._watch
    watch.deferred = True
    tiers.step([1])
    host = tiers.back_up([1])
    stages = tiers.host.load(host, [5])
    for stage in stages:
        stage.move()
    watch._unread[-1].differs[:] = True
    tiers.memory.freed([5], "the cache")
    tiers.memory.taken([5])
    tiers.step([5], "prefill step 9")
    before = tiers.chains("c4", 5).tolist()
    watch.poll()
    assert tiers.chains("c4", 5).tolist() == before
    event = next(e for e in tiers.violations("restored_page_differs") if e["pool"] == "c4")
    assert (event["generation"], event["writer_kind"]) == (1, "load")
