"""`kvlab compare`: two runs by part of their ids, as a table or one document."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.store import DEFAULT_DB, open_results
from tests.lab.samples import findings, sample_run


@pytest.fixture
def runs(folder: Path) -> list[str]:
    """The ids of two judged runs."""
    verdict, arms = sample_run()
    made = []
    with open_results(DEFAULT_DB) as results:
        for seed in (7, 8):
            made.append(results.begin_run("padded_scatter", "name: padded_scatter", seed, {}))
            for arm in arms:
                results.save_arm(made[-1], arm)
            found = {arm.name: findings(arm) for arm in arms}
            results.save_verdict(made[-1], verdict, found)
            results.finish_run(made[-1], "done")
    return made


def test_the_last_two_runs_are_compared(kvlab, runs: list[str]) -> None:
    told = kvlab("compare", "last~1", "last", "--json").json
    assert [told["a"]["run"], told["b"]["run"]] == runs
    assert kvlab("compare", runs[0]).out.startswith("The runs are the same, event for event")


def test_a_name_that_fits_no_run_is_one_line(kvlab, runs: list[str]) -> None:
    said = kvlab("compare", "last~7", "last")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "no run 'last~7'; the latest:" in said.err
