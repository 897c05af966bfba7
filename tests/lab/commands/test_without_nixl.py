"""Where NIXL is not installed, whatever needs it is refused before its first arm."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from lab import versions
from lab.store import open_results
from tests.lab.commands.conftest import FakeTrial
from tests.lab.scenario.files import GOOD, write

SAYS = "wire nixl needs the package nixl_cu13: pip install -e '.[nixl]'\n"
ARMS = "arms:\n"
PAIRS = 'arms:\n  - {name: "inproc", pd: true}\n  - {name: "nixl", pd: true, wire: nixl}\n'


@pytest.fixture(autouse=True)
def bare(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scenario with an arm over either wire, and no NIXL to import."""
    monkeypatch.setitem(sys.modules, "nixl_cu13", None)
    write(folder, GOOD.replace(ARMS, PAIRS))
    return folder


@pytest.mark.parametrize(
    ("argv", "where"),
    [
        (["run", "good.yaml"], "good.yaml:10: arms.1.wire"),
        (["ab", "good.yaml", "inproc", "nixl"], "arms A B: arms.1.wire"),
        (
            [*("ab", "good.yaml", "--set", "engine.pd=true"), "--toggle", "wire=inproc,nixl"],
            "--toggle wire=inproc,nixl: arms.1.wire",
        ),
        (
            ["run", "good.yaml", "--set", "engine.wire=nixl", "--set", "arms.1.wire=inproc"],
            "--set engine.wire=nixl: engine.wire",
        ),
    ],
    ids=["run", "ab of two arms", "ab of a toggle", "--set"],
)
def test_nothing_runs_and_nothing_is_stored(
    argv: list[str], where: str, trial: FakeTrial, kvlab, bare: Path
) -> None:
    said = kvlab(*argv)
    assert (said.code, said.out, said.err) == (2, "", f"kvlab: {where}: {SAYS}")
    assert trial.asked == [] and not (bare / "results").exists()


def test_check_names_the_line_and_list_still_reads_the_file(bare: Path, kvlab) -> None:
    said = kvlab("scenario", "check", "good.yaml")
    assert (said.code, said.err) == (2, f"good.yaml:10: arms.1.wire: {SAYS}")
    assert kvlab("scenario", "check", ".").code == 2
    (listed,) = kvlab("scenario", "list", "--root", ".", "--json").json
    assert listed["problem"] is None


def test_what_does_not_need_it_runs(bare: Path, trial: FakeTrial, kvlab) -> None:
    assert kvlab("ab", "good.yaml", "inproc", "fp8, graph on", "--sessions", "2").code == 0
    unread = GOOD.replace("concurrency: 60}", "concurrency: 60, wire: nixl}")  # pd is off
    write(bare, unread)
    assert kvlab("run", "good.yaml", "--sessions", "2").code == 0


def test_doctor_and_every_run_say_whether_it_is_installed(
    trial: FakeTrial, kvlab, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if name == "nixl-cu13":
            raise metadata.PackageNotFoundError
        return "1.2.3"

    monkeypatch.setattr(versions.metadata, "version", version)
    told = "not installed: pip install -e '.[nixl]'"
    assert kvlab("doctor", "--json").json["versions"]["nixl"] == told
    kvlab("run", "good.yaml", "--set", "arms.1.wire=inproc", "--sessions", "2")
    with open_results(bare / "results" / "lab.duckdb") as results:
        assert results.runs()[0].versions["nixl"] == told
    monkeypatch.setattr(versions.metadata, "version", lambda name: f"{name} 9")
    assert kvlab("doctor", "--json").json["versions"]["nixl"] == "nixl-cu13 9"
