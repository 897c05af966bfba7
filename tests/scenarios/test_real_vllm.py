"""A real vLLM, where `make vllm` has installed one: launched, read, loaded, judged and stopped.

    VLLM=.venv-vllm .venv/bin/pytest tests/scenarios/test_real_vllm.py

Minutes on two cores, nearly all of them three boots. Whether vLLM repeats itself to the letter is
its own business: that it is noticed, and is no corruption, is ours.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import tiny_model
from lab.store import open_results
from tests.scenarios import vllm_fault
from tests.scenarios.whole import ROOT

if TYPE_CHECKING:
    from lab.records import ArmHistory

FILE = ROOT / "real" / "vllm_prefix_caching.yaml"
VLLM = (ROOT.parent / os.environ.get("VLLM", ".venv-vllm") / "bin" / "vllm").absolute()
ON, OFF, IN_VAIN = "prefix caching", "no prefix caching", "async scheduling, on a CPU"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not VLLM.exists(), reason="no vLLM here: `make vllm` installs one"),
]


@dataclass(frozen=True)
class Ran:
    """What the run printed, what it stored, and where its model is."""

    document: dict[str, Any]
    histories: dict[str, ArmHistory]
    model: Path

    def arm(self, name: str) -> dict[str, Any]:
        """One arm of the document."""
        [found] = [arm for arm in self.document["arms"] if arm["name"] == name]
        return dict(found)

    def told(self, arm: str, kind: str) -> dict[str, str]:
        """Settings of the events of a kind, each with what the server runs with."""
        events = self.histories[arm].events
        return {it["key"]: it["effective"] for _, name, it in events if name == kind}


def run(folder: Path, **env: str) -> Ran:
    """The scenario as a user runs it, by this folder's model; ``env`` is the server's too."""
    model, db = folder / "tiny", folder / "lab.duckdb"
    tiny_model.write(model)
    sets = ["--set", f"target.vllm={VLLM}", "--set", f"target.model_path={model}"]
    words = [sys.executable, "-m", "lab.app", "run", str(FILE), *sets, "--db", str(db), "--json"]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", **env}
    done = subprocess.run(words, env=env, stdout=subprocess.PIPE, check=True)
    document = json.loads(done.stdout)
    with open_results(db) as results:
        found = results.histories(document["run"])
    return Ran(document, {history.name: history for history in found}, model)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("vllm"))


@pytest.mark.parametrize("name", [ON, OFF])
def test_noise_is_no_corruption(ran: Ran, name: str) -> None:
    arm = ran.arm(name)
    assert arm["verdict"] in ("clean", "nondeterministic")
    assert (arm["sessions"], arm["replies_corrupt"], arm["unfinished"]) == (96, 0, 0)
    assert all(phase in arm["reason"] for phase in ("cold", "warm: ", "in a flood: ", "evicted: "))


def test_a_server_that_caches_prefixes_finds_them(ran: Ran) -> None:
    assert ran.arm(ON)["exposure"]["prefix_hits"] > 0
    assert ran.arm(OFF)["exposure"]["prefix_hits"] == 0
    assert sum(reply.cached_tokens for reply in ran.histories[ON].replies) > 0
    assert sum(reply.cached_tokens for reply in ran.histories[OFF].replies) == 0


def test_what_was_asked_for_is_read_back(ran: Ran) -> None:
    read = ran.told(OFF, "setting_effective")
    assert (
        read.items()
        >= {
            "prefix_caching": "false",
            "enforce_eager": "true",
            "dtype": "float32",
            "max_model_len": "2048",
            "max_num_seqs": "8",
            "block_size": "32",
            "num_blocks": "256",
            "kv_cache_memory_bytes": "268435456",
        }.items()
    )
    assert ran.told(ON, "setting_effective")["prefix_caching"] == "true"
    assert ran.told(ON, "setting_not_effective") == ran.told(ON, "setting_not_read") == {}


def test_what_did_not_take_effect_makes_an_arm_inconclusive(ran: Ran) -> None:
    arm = ran.arm(IN_VAIN)
    assert arm["verdict"] == arm["expected"] == "inconclusive"
    assert "did not take effect: async_scheduling on runs as off" in arm["reason"]


def test_nothing_is_left_running(ran: Ran) -> None:
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [command for command in commands if str(ran.model).encode() in command]


def test_a_prefix_cache_that_hits_other_blocks_is_told_from_noise_by_the_arm_without(
    tmp_path: Path,
) -> None:
    plugin = tmp_path / "plugin" / "vllm_fault-0.dist-info"
    plugin.mkdir(parents=True)
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm-fault\nVersion: 0\n")
    (plugin / "entry_points.txt").write_text("[vllm.general_plugins]\nf = vllm_fault:inject\n")
    shutil.copy(vllm_fault.__file__, plugin.parent)
    sick = run(tmp_path, PYTHONPATH=str(plugin.parent))
    assert sick.arm(ON)["verdict"] == "nondeterministic"
    assert "warm: 0 of" not in sick.arm(ON)["reason"]
    assert sick.arm(OFF)["verdict"] == "clean"
