"""Every command that a guide tells a reader to type does what it says, in the guide's order.

Each guide is read as by a newcomer in a fresh clone: its commands run there in order, on one
database, made short by `shorter.py`. `make` is asked what it would do, and a bisection's trials are
simulated: real ones are the slow tests' of `tests/scenarios`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.app import answer
from lab.bisecting import perform
from lab.store import DEFAULT_DB, open_results
from tests.guides.blocks import ROOT, commands, guides
from tests.guides.shorter import shorter
from tests.lab.bisecting.simulated import Fake
from tests.lab.serving.processes import serving

GUIDES = [it for it in guides() if commands(it)]
PORT = "30000"  # of the reader's own server
READERS = ("show", "explain", "replay", "timeline", "judge", "compare")
A_RUN = ("run", "padded_scatter_stale_slots")  # of a guide whose own run needs a server of yours
Shown = pytest.CaptureFixture[str]


def named(guide: Path) -> str:
    return guide.parent.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("guide", GUIDES, ids=named)
def test_every_command_of_a_guide_runs(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(perform, "_world", lambda *_: Fake(frozenset({"index_k"}), p1=0.9))
    for argv in commands(guide):
        ran = " ".join(argv)
        code = run(argv, tmp_path)
        assert code == 0, f"{named(guide)}: {ran}: exit {code}\n{''.join(capsys.readouterr())}"


def run(argv: list[str], folder: Path) -> int:
    """Run one command as the guide's reader would; returns its exit code."""
    if argv[0] == "make":
        return subprocess.run(["make", "-n", *argv[1:]], cwd=ROOT, capture_output=True).returncode
    if argv[0] == "pip":
        return installable(argv[-1])
    if argv[0].endswith("pytest"):
        return collected(argv[1:])
    if argv[0] == "python":
        argv = [sys.executable, *argv[1:]]
        return subprocess.run(argv, cwd=ROOT, capture_output=True).returncode
    if argv[1] in READERS and not DEFAULT_DB.exists():
        answer(shorter(["kvlab", *A_RUN])[1:])
    if argv[1] == "compare" and runs() < 2:
        answer(shorter(["kvlab", *A_RUN, "--seed", "1"])[1:])  # another day's
    argv = shorter(argv)
    if argv[1:2] == ["serve"]:
        return answered(argv)
    if argv[1:2] == ["explain"] and "--session" in argv:
        argv[argv.index("--session") + 1] = str(corrupt_session())
    if argv[1:3] == ["replay", "last"]:
        argv[3] = str(corrupt_session())
    if "any_server" in argv:
        return against_a_server(argv)
    return answer(argv[1:])


def installable(what: str) -> int:
    """Whether an installation's extras are those of pyproject.toml."""
    extras = re.findall(r"\[([\w,]+)\]", what)
    known = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = [name for extra in extras for name in extra.split(",")]
    return 0 if all(re.search(rf"^{name} = \[", known, re.M) for name in names) else 1


def collected(argv: list[str]) -> int:
    """Whether pytest finds what it is asked for."""
    options = ["-q", "--collect-only", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *argv, *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True).returncode


def runs() -> int:
    """How many are stored."""
    with open_results(DEFAULT_DB) as results:
        return len(results.runs())


def corrupt_session() -> int:
    """A session of the newest run that has a wrong reply."""
    with open_results(DEFAULT_DB) as results:
        run_id = results.runs()[0].id
        found = results.findings(run_id)
    return min(it.session for its in found.values() for it in its if it.kind == "corrupt")


def answered(argv: list[str]) -> int:
    """Whether the server of this command says where it listens; it is stopped then."""
    others = [it for it in argv[2:] if it not in ("--port", PORT)]
    with serving(*others) as server:
        return 0 if server.url.startswith("http://127.0.0.1:") else 1


def against_a_server(argv: list[str]) -> int:
    """The command with the bundled engine as the reader's server, at a port that is free."""
    with serving("--set", "workload.preset=small") as server:
        return answer([*argv[1:], "--set", f"target={server.url}"])
