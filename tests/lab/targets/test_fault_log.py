"""What a fault tells in a server's log is evidence of the arm in which it was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.events import EventLog
from lab.profiles.loader import parse_profile
from lab.targets.fault_log import FaultLog
from tests.lab.profiles.test_faults import SHOP
from tests.lab.targets.remotes import server

if TYPE_CHECKING:
    from pathlib import Path

DAMAGE = '(Worker) fault {"damage": 1, "how": "swap", "tokens": 4}\n'
MET = 'fault {"met": 1, "request": "a", "first": 8}\nfault {"met": 2, "request": "a", "first": 9}\n'


def told(folder: Path, build: tuple[str, ...], before: str, after: str) -> EventLog:
    profile, path, log = parse_profile(SHOP, "shop.yaml"), folder / "log", EventLog(lambda: 0)
    path.write_text(before)
    faults = FaultLog(server("http://127.0.0.1", logs={"server": path}), profile, build)
    path.write_text(before + after)
    faults.tell(log)
    return log


def test_rows_are_events_and_are_counted(tmp_path: Path) -> None:
    log = told(tmp_path, ("loses_pages",), DAMAGE, f"INFO\n{DAMAGE}{MET}fault {{torn\n")
    assert [(event.kind, event.fields) for event in log.events] == [
        ("fault_injected", {"damage": 1, "how": "swap", "tokens": 4}),
        ("fault_met", {"met": 1, "request": "a", "first": 8}),
        ("fault_met", {"met": 2, "request": "a", "first": 9}),
    ]
    assert log.counters == {"faults_injected": 1, "faults_met": 1}


def test_a_fault_that_did_not_strike_counts_as_none(tmp_path: Path) -> None:
    assert told(tmp_path, ("loses_rows",), DAMAGE, "").counters == {
        "faults_injected": 0,
        "faults_met": 0,
    }


def test_without_a_build_nothing_is_looked_for(tmp_path: Path) -> None:
    assert told(tmp_path, (), "", DAMAGE).counters == {}
