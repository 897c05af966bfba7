"""A process that is killed leaves a file that opens, with every arm that had finished."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from lab.store import RunStatus, open_results
from tests.lab.samples import history

if TYPE_CHECKING:
    from pathlib import Path

BETWEEN_ARMS = """
import sys
from pathlib import Path
from lab.store import open_results
from tests.lab.samples import history
results = open_results(Path(sys.argv[1]))
run = results.begin_run("padded_scatter", "name: padded_scatter", 7, {})
results.save_arm(run, history("bf16, graph on", corrupt=10))
"""
INSIDE_AN_ARM = (
    BETWEEN_ARMS
    + """
from lab.store import saves
results.db.execute("BEGIN")
saves.save_history(results.db, run, 1, history("fp8, graph on"))
"""
)
ONE_AFTER_ANOTHER = """
import sys
from pathlib import Path
from lab.store import open_results
from tests.lab.samples import history
results = open_results(Path(sys.argv[1]))
run = results.begin_run("padded_scatter", "", 7, {})
for number in range(1000):
    results.save_arm(run, history(f"arm {number}", sessions=500))
    print(number, flush=True)
"""
FULL_DISK = (
    BETWEEN_ARMS
    + """
import resource
from lab.errors import StoreError
size = Path(sys.argv[1]).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 500_000, size + 500_000))
big = history("fp8, graph on")
big.events = [(i, "store", {"row": i * 7919 % 65536}) for i in range(60_000)]
try:
    results.save_arm(run, big)
except StoreError as error:
    print(error, flush=True)
results.finish_run(run, "failed")
results.close()
"""
)
WAIT = """
print(run, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("script", [BETWEEN_ARMS, INSIDE_AN_ARM], ids=["between", "inside"])
def test_a_killed_run_keeps_its_finished_arms_only(tmp_path: Path, script: str) -> None:
    path = tmp_path / "lab.duckdb"
    command = [sys.executable, "-c", script + WAIT, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as victim:
        assert victim.stdout is not None
        run = victim.stdout.readline().strip()
        victim.send_signal(signal.SIGKILL)
    with open_results(path) as results:
        assert results.resolve("last") == run
        assert results.run(run).status is RunStatus.INTERRUPTED
        assert results.histories(run) == [history("bf16, graph on", corrupt=10)]


@pytest.mark.parametrize("after", [0, 3])
def test_a_run_that_is_killed_while_it_writes_leaves_whole_arms(tmp_path: Path, after: int) -> None:
    path = tmp_path / "lab.duckdb"
    command = [sys.executable, "-c", ONE_AFTER_ANOTHER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        while int(victim.stdout.readline()) < after:
            pass
        victim.send_signal(signal.SIGKILL)
    with open_results(path) as results:
        run = results.resolve("last")
        stored = results.histories(run)
        assert len(stored) > after
        wanted = [history(f"arm {number}", sessions=500) for number in range(len(stored))]
        assert stored == wanted
        results.save_arm(run, history("another"))
        assert results.histories(run, "another") == [history("another")]


def test_a_full_disk_is_one_clear_line_and_costs_its_arm_only(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"{path}: cannot be written: ")
    assert said.count("\n") == 1
    with open_results(path) as results:
        (stored,) = results.runs()
        assert (stored.status, stored.arms) == (RunStatus.FAILED, ("bf16, graph on",))


def test_an_arm_that_fails_to_store_leaves_nothing_of_itself(tmp_path: Path) -> None:
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("any", "", 0, {})
        bad = history("one")
        bad.counters = {"padded_rows": 2**70}
        with pytest.raises(Exception, match="too large"):
            results.save_arm(run, bad)
        assert results.histories(run) == []
        results.save_arm(run, history("one"))
        assert results.histories(run) == [history("one")]
