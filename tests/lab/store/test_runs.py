"""Run ids, how a user names a run, and what may become of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lab.errors import StoreError
from lab.store import Results, RunStatus, open_results

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    with open_results(tmp_path / "lab.duckdb") as opened:
        yield opened


def test_ids_say_the_moment_and_differ_within_one_second(results: Results) -> None:
    ids = [results.begin_run("same", "yaml", 0, {}) for _ in range(40)]
    assert all(re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{4}", run) for run in ids)
    assert len(dict.fromkeys(ids)) == 40
    assert [stored.id for stored in results.runs()] == ids


def test_a_run_is_named_by_last_its_beginning_or_its_suffix(results: Results) -> None:
    first = results.begin_run("one", "", 0, {})
    second = results.begin_run("two", "", 0, {})
    assert results.resolve("last") == second
    assert results.resolve(first) == first
    assert results.resolve(first[:-1]) == first
    assert results.resolve(first[-4:]) == first


def test_an_ambiguous_or_unknown_name_says_what_there_is(results: Results) -> None:
    with pytest.raises(StoreError, match="holds no run yet"):
        results.resolve("last")
    first = results.begin_run("one", "", 0, {})
    second = results.begin_run("two", "", 0, {})
    with pytest.raises(StoreError, match=f"fits 2 runs: {second}, {first}"):
        results.resolve("2")
    with pytest.raises(StoreError, match=f"no run 'zzz'; the latest: {second}, {first}"):
        results.resolve("zzz")


def test_a_run_ends_once(results: Results) -> None:
    run = results.begin_run("one", "", 0, {})
    assert results.run(run).status is RunStatus.RUNNING
    results.finish_run(run, "failed")
    assert results.run(run).status is RunStatus.FAILED
    with pytest.raises(StoreError, match="is failed, it cannot become done"):
        results.finish_run(run, "done")


def test_an_unknown_run_is_refused_before_anything_is_read(results: Results) -> None:
    with pytest.raises(StoreError, match="no run 'nope'"):
        results.histories("nope")
