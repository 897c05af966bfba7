"""Tasks in processes of their own: the same results however many, and an end at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from lab.bisecting.workers import Workers
from lab.errors import TargetError, UserError
from tests.lab.bisecting import tasks

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60.0


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_item_has_its_result_however_many_work(jobs: int) -> None:
    with Workers(jobs) as workers:
        assert dict(workers.run(tasks.square, range(5))) == {0: 0, 1: 1, 2: 4, 3: 9, 4: 16}
        assert dict(workers.run(tasks.square, [7])) == {0: 49}


def test_one_job_needs_no_process_and_two_have_their_own() -> None:
    with Workers(1) as workers:
        assert dict(workers.run(tasks.own_process, [0])) == {0: os.getpid()}
    with Workers(2) as workers:
        assert os.getpid() not in dict(workers.run(tasks.own_process, [0, 1])).values()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_task_raises_is_raised(jobs: int) -> None:
    with Workers(jobs) as workers, pytest.raises(UserError, match="not with 3"):
        dict(workers.run(tasks.refuse, [3]))


def test_a_process_that_dies_is_told_of_and_the_next_task_gets_another() -> None:
    with Workers(2) as workers:
        with pytest.raises(TargetError, match="a worker process died"):
            dict(workers.run(tasks.die, [0, 1]))
        assert dict(workers.run(tasks.square, [3])) == {0: 9}


def test_no_worker_hears_an_interruption_not_even_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource_tracker, "_resource_tracker", resource_tracker.ResourceTracker())
    monkeypatch.setattr(
        resource_tracker, "ensure_running", resource_tracker._resource_tracker.ensure_running
    )
    with Workers(2) as workers:
        told = dict(workers.run(tasks.deafness, [(str(tmp_path), 2)] * 2))
    assert len({pid for pid, _, _ in told.values()}) == 2
    assert [(born, ignores) for _, born, ignores in told.values()] == [(True, True)] * 2


def test_an_interruption_ends_the_workers_in_the_middle_of_what_they_do(tmp_path: Path) -> None:
    def press() -> None:
        tasks.started(tmp_path, 2)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    typist = threading.Thread(target=press, daemon=True)
    with pytest.raises(KeyboardInterrupt), deaf_no_more(), Workers(2) as workers:
        typist.start()
        dict(workers.run(tasks.long, [str(tmp_path)] * 2))
    assert multiprocessing.active_children() == []
    assert [pid for pid in tasks.started(tmp_path, 2) if alive(pid)] == []


def test_a_parent_that_is_killed_leaves_no_worker(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.lab.bisecting.tasks", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT) as parent:
        pids = tasks.started(tmp_path, 2)
        parent.kill()
    until = time.monotonic() + PATIENCE_S
    while any(alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert [pid for pid in pids if alive(pid)] == []


@contextmanager
def deaf_no_more() -> Iterator[None]:
    """With Python's own answer to SIGINT, whatever the runner of the tests has put there."""
    was = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, was)


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and that nobody has asked after does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
