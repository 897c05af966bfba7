"""A real vLLM under the probe, where `make vllm` has installed one: as it is, and with a fault.

    VLLM=.venv-vllm .venv/bin/pytest tests/scenarios/test_real_probe.py

Minutes on two cores. Every reply is known, so that a single wrong byte of a vLLM without the fault
is a finding about vLLM, or about the probe, and fails the test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.placing.report import damage_document
from lab.store import open_results
from tests.scenarios.test_real_vllm import VLLM
from tests.scenarios.whole import ROOT

FAULT, HEALTHY = (ROOT / "real" / f"probe_vllm_{name}.yaml" for name in ("fault", "healthy"))
ENV = {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not VLLM.exists(), reason="no vLLM here: `make vllm` installs one"),
]


def kvlab(*words: str) -> dict[str, Any]:
    argv = [sys.executable, "-m", "lab.app", *words, "--json"]
    done = subprocess.run(argv, env={**os.environ, **ENV}, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("probe")
    kvlab("probe", "make", "--out", str(made / "probe"))
    return made


def on_vllm(folder: Path, command: str, file: Path, *more: str) -> dict[str, Any]:
    sets = ["--set", f"target.vllm={VLLM}", "--set", f"target.model_path={folder / 'probe'}"]
    return kvlab(command, str(file), *sets, "--db", str(folder / "lab.duckdb"), *more)


def test_a_vllm_as_it_is_says_what_is_due_to_the_byte(folder: Path) -> None:
    document = on_vllm(folder, "run", HEALTHY)
    assert [arm["verdict"] for arm in document["arms"]] == ["clean"] * 3


def test_a_fault_shows_in_the_arm_that_arms_it_and_its_place_is_found(folder: Path) -> None:
    document = on_vllm(folder, "run", FAULT)
    assert [arm["verdict"] for arm in document["arms"]] == ["corrupt", "clean", "clean"]
    with open_results(folder / "lab.duckdb") as results:
        [arm] = [it for it in damage_document(results, document["run"])["arms"] if it["injected"]]
    assert 0 < arm["all"]["needed"] == arm["all"]["wrong"] == arm["all"]["placed"]


def test_bisection_finds_what_arms_the_fault_and_nothing_without_it(folder: Path) -> None:
    found = on_vllm(folder, "bisect", FAULT, "--no-replay")
    assert found["verdict"] == "CONFIRMED"
    assert {it["toggle"] for it in found["culprits"]} == {"prefix_caching", "concurrency"}
    assert on_vllm(folder, "bisect", HEALTHY)["verdict"] == "NOT-REPRODUCED"
