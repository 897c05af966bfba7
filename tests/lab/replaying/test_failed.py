"""A stored run needs a session, and a bundle takes none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.errors import UserError
from lab.replaying.failed import failed, refuse_bundle, refuse_run
from lab.store import Results
from tests.lab.replaying.arms import wrong


def test_those_that_failed_are_told_once_over_all_arms() -> None:
    unfinished = replace(wrong(4, 0), kind="unfinished")
    assert failed([[wrong(5, 1), wrong(5, 2), unfinished], [wrong(0, 0), wrong(5, 1)]]) == [0, 5]


def test_a_run_s_own_folder_is_still_the_run(
    results: Results, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(run).mkdir()
    refuse_bundle(run, results.path)
    with pytest.raises(UserError, match=r"SESSION is missing; those that failed: 0, 1$"):
        refuse_run(run, results.path)


def test_a_folder_that_no_run_is_named_like_takes_no_session(tmp_path: Path) -> None:
    refuse_run(str(tmp_path), tmp_path / "none.duckdb")
    with pytest.raises(UserError, match="a bundle takes no SESSION"):
        refuse_bundle(str(tmp_path), tmp_path / "none.duckdb")
