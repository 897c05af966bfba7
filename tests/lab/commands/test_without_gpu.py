"""Where there is no GPU, whatever needs one is refused before its first arm, and is no mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from lab.store import open_results
from tests.lab.commands.conftest import FakeTrial
from tests.lab.scenario.files import GOOD, write

WITH_GPU = GOOD.replace("fp8}\n", "fp8, device: cuda}\n", 1)


@pytest.fixture(autouse=True)
def bare(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario with one arm on a GPU, and none to run it on."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    write(folder, WITH_GPU)
    return folder


@pytest.mark.parametrize("command", [["run"], ["ab", "fp8, graph on", "bf16, graph on"]])
def test_nothing_runs_and_nothing_is_stored(
    command: list[str], trial: FakeTrial, kvlab, bare: Path
) -> None:
    name, *arms = command
    said = kvlab(name, "good.yaml", *arms)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("kvlab: good.yaml: arms.") and "no CUDA device here" in said.err
    assert trial.asked == []
    with open_results(bare / "results" / "lab.duckdb") as results:
        assert results.runs() == []


def test_a_file_for_another_machine_is_well_formed(kvlab) -> None:
    assert kvlab("scenario", "check", "good.yaml").code == 0


def test_its_other_arms_run(trial: FakeTrial, kvlab) -> None:
    argv = ("ab", "good.yaml", "bf16, graph on", "bf16, one at a time", "--sessions", "2")
    assert kvlab(*argv).code == 0
