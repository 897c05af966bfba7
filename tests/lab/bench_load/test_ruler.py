"""CPU seconds of a tree of processes, and the rate in the middle of a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.bench_load.ruler import Rates, Sample, rates, tree_cpu_s

TICK = os.sysconf("SC_CLK_TCK")


def process(proc: Path, pid: int, ticks: tuple[int, int, int, int], children: str = "") -> None:
    """A process as ``/proc`` shows it; a name may hold anything."""
    task = proc / f"{pid}/task/{pid}"
    task.mkdir(parents=True)
    (proc / f"{pid}/stat").write_text(f"{pid} (a ) b) S {'0 ' * 10}{' '.join(map(str, ticks))} 0\n")
    (task / "children").write_text(children)


def test_a_tree_s_seconds_are_those_of_all_that_live_and_of_those_that_ended(
    tmp_path: Path,
) -> None:
    process(tmp_path, 1, (1, 2, 4, 8), "2 3 ")
    process(tmp_path, 2, (16, 0, 0, 0), "4 ")
    process(tmp_path, 4, (0, 32, 0, 0))
    assert tree_cpu_s(1, tmp_path) == (15 + 16 + 32) / TICK  # 3 has ended meanwhile


def test_a_child_of_another_thread_counts(tmp_path: Path) -> None:
    process(tmp_path, 1, (1, 0, 0, 0))
    process(tmp_path, 2, (2, 0, 0, 0))
    (tmp_path / "1/task/9").mkdir()
    (tmp_path / "1/task/9/children").write_text("2")
    assert tree_cpu_s(1, tmp_path) == 3 / TICK


def test_our_own_seconds_are_read() -> None:
    assert tree_cpu_s(os.getpid()) > 0.0


def test_imports_and_reports_are_no_part_of_the_rate() -> None:
    samples = [
        Sample(0.0, 0, 0.0),
        Sample(5.0, 0, 4.0),  # imports
        Sample(6.0, 100, 4.5),
        Sample(7.0, 500, 5.0),
        Sample(8.0, 900, 5.5),
        Sample(9.0, 1000, 6.0),
        Sample(20.0, 1000, 16.0),  # the report
    ]
    assert rates(samples, 1000) == Rates(tokens_per_s=400.0, cores=0.5, tokens_per_cpu_s=800.0)


def test_a_run_too_short_to_have_a_middle_is_taken_whole() -> None:
    samples = [Sample(0.0, 0, 0.0), Sample(1.0, 450, 0.1), Sample(2.0, 1000, 0.5)]
    assert rates(samples, 1000) == Rates(500.0, 0.25, 2000.0)


@pytest.mark.parametrize("samples", [[Sample(1.0, 5, 2.0)], [Sample(1.0, 5, 2.0)] * 3])
def test_a_run_in_which_nothing_was_seen_has_no_rate(samples: list[Sample]) -> None:
    assert rates(samples, 10) == Rates(0.0, 0.0, 0.0)
