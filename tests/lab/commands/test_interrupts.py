"""Ctrl-C and SIGTERM end a run, also where Python drops the exception that they raise."""

from __future__ import annotations

import signal
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import interrupts, running
from lab.records import ArmHistory
from lab.store import Results, RunStatus, open_results
from lab.store.connection import transaction
from tests.lab.commands.conftest import FakeTrial, Said

pytestmark = pytest.mark.usefixtures("folder")
FIRST, SECOND = "bf16, graph on", "fp8, graph on"


class Mortal:
    """Something whose end a weak reference hears of."""


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """What Python drops, while both signals are answered as on the command line."""
    found: list[object] = []
    before = {number: signal.getsignal(number) for number in interrupts.SIGNALS}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # put back in the end
    interrupts.listen()
    quiet = sys.unraisablehook

    def hook(told: Any) -> None:
        found.append(told.exc_type)
        quiet(told)

    sys.unraisablehook = hook
    yield found
    interrupts.listen()
    for number, handler in before.items():
        signal.signal(number, handler)


def lose(number: int) -> None:
    """A signal that comes while a weak reference's callback runs."""
    mortal = Mortal()
    watch = weakref.ref(mortal, lambda _: signal.raise_signal(number))
    del mortal
    assert watch() is None


class Interrupted:
    """Stands in for ``run_arm``: a signal comes within one arm, after so many replies."""

    def __init__(self, trial: FakeTrial, arm: str, number: int, after: int) -> None:
        self.trial, self.arm, self.number, self.after = trial, arm, number, after
        self.ticks = 0

    def __call__(
        self, scenario: Any, arm: Any, seed: int, progress: Any, servers: Any = None
    ) -> ArmHistory:
        history = self.trial(scenario, arm, seed, lambda done, due: None)
        if arm.name == self.arm:
            for reply in range(5):
                if reply == self.after:
                    lose(self.number)
                self.ticks += 1
                progress(reply + 1, 5)
            if self.after == 5:
                lose(self.number)
        return history


def interrupted(kvlab: Any, folder: Path, arms: int) -> None:
    """Runs; the run must end as interrupted, with ``arms`` of 3 stored."""
    said: Said = kvlab("run", "good.yaml")
    assert (said.code, said.err.count("\n")) == (130, 1)
    assert said.err.startswith(f"kvlab: interrupted: {arms} of 3 arms are stored as run ")
    with open_results(folder / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
    assert (run.status, len(run.arms)) == (RunStatus.INTERRUPTED, arms)


@pytest.mark.parametrize("number", interrupts.SIGNALS)
def test_a_signal_that_a_weak_reference_s_callback_swallowed_ends_the_run_at_the_next_reply(
    number: int,
    trial: FakeTrial,
    dropped: list[object],
    kvlab,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arm = Interrupted(trial, SECOND, number, after=2)
    monkeypatch.setattr(running, "run_arm", arm)
    interrupted(kvlab, folder, arms=1)
    assert (dropped, arm.ticks) == ([KeyboardInterrupt], 3)


def test_a_signal_lost_after_an_arm_s_last_reply_ends_the_run_once_that_arm_is_stored(
    trial: FakeTrial,
    dropped: list[object],
    kvlab,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "run_arm", Interrupted(trial, FIRST, signal.SIGINT, after=5))
    interrupted(kvlab, folder, arms=1)
    assert dropped == [KeyboardInterrupt]
    assert [name for name, _, _ in trial.asked] == [FIRST]


@pytest.mark.parametrize("number", interrupts.SIGNALS)
def test_a_signal_is_raised_where_it_comes(number: int, dropped: list[object]) -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    assert dropped == []


def test_whatever_else_python_drops_is_printed(
    dropped: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    mortal = Mortal()
    watch = weakref.ref(mortal, broken)
    del mortal
    assert (watch(), dropped) == (None, [ZeroDivisionError])
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_nothing_is_raised_where_no_signal_came(dropped: list[object]) -> None:
    interrupts.check()
    assert dropped == []


def test_what_duckdb_makes_of_a_signal_is_an_interruption(
    dropped: list[object], tmp_path: Path
) -> None:
    def press(number: int) -> int:
        signal.raise_signal(number)
        return number

    with open_results(tmp_path / "lab.duckdb") as results:
        results.db.create_function("press", press, ["INTEGER"], "INTEGER")
        with pytest.raises(KeyboardInterrupt), interrupts.heard():
            results.db.execute(f"SELECT press({int(signal.SIGINT)})").fetchall()
        assert results.runs() == []  # and the file is of use


def test_a_command_that_fails_of_a_signal_is_interrupted(
    trial: FakeTrial, dropped: list[object], kvlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        interrupts._noted.append(signal.SIGINT)
        raise RuntimeError("Query interrupted")

    kvlab("run", "good.yaml")
    monkeypatch.setattr(Results, "runs", broken)
    said: Said = kvlab("runs")
    assert (said.code, said.out, said.err) == (130, "", "kvlab: interrupted\n")


def test_a_signal_with_a_transaction_just_begun_leaves_none_open(tmp_path: Path) -> None:
    class Stopped:
        """A connection whose first statement is heard, and then interrupted."""

        def __init__(self, db: Any) -> None:
            self.db, self.first = db, True

        def execute(self, text: str) -> Any:
            found = self.db.execute(text)
            if self.first:
                self.first = False
                raise KeyboardInterrupt
            return found

    with open_results(tmp_path / "lab.duckdb") as results:
        stopped: Any = Stopped(results.db)
        with pytest.raises(KeyboardInterrupt), transaction(stopped, "lab.duckdb"):
            pass
        with transaction(results.db, "lab.duckdb"):
            results.db.execute("SELECT 1")


def test_a_command_that_is_offered_finds_the_database(
    trial: FakeTrial, dropped: list[object], kvlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "run_arm", Interrupted(trial, SECOND, signal.SIGINT, after=2))
    said: Said = kvlab("run", "good.yaml", "--db", "an other.duckdb", "--out", "of mine")
    db, out = " --db 'an other.duckdb'", " --out 'of mine'"
    assert f"{db}{out}` goes on, " in said.err and f"{db}` judges them, " in said.err
    assert said.err.endswith(f"{db}{out}` then shows what there is\n")
