"""Every command in `results/README.md` runs as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from lab.store import DEFAULT_DB, open_results
from lab.store.views import VIEWS
from tests.lab.samples import findings, sample_run

README = (Path(__file__).parents[3] / "results" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.startswith("kvlab ")]


@pytest.fixture
def database(folder: Path) -> None:
    """Two judged runs."""
    verdict, arms = sample_run()
    with open_results(DEFAULT_DB) as results:
        for seed in (7, 8):
            run = results.begin_run("padded_scatter", "name: padded_scatter", seed, {})
            for arm in arms:
                results.save_arm(run, arm)
            found = {arm.name: findings(arm) for arm in arms}
            results.save_verdict(run, verdict, found)
            results.finish_run(run, "done")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("database")
def test_a_command_of_the_readme_runs(kvlab, command: str) -> None:
    said = kvlab(*shlex.split(command)[1:])
    assert said.code == 0, said.err
    assert said.out


def test_the_readme_names_every_view() -> None:
    assert COMMANDS
    assert [view.name for view in VIEWS if f"`{view.name}`" not in README] == []
