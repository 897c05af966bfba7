"""Help is where a newcomer looks, and a mistyped command line is one line."""

from __future__ import annotations

import pytest

from lab.commands.output import show_json
from lab.progress import RunProgress

COMMANDS = [
    "run",
    "ab",
    "report",
    "runs",
    "show",
    "timeline",
    "judge",
    "replay",
    "doctor",
    "bisect",
    "sweep",
    "bench",
    "kernels",
    "probe",
    "catalog",
    "serve",
]


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]])
def test_help_names_every_command(argv: list[str], kvlab) -> None:
    said = kvlab(*argv)
    assert said.code == 0 and all(command in said.out for command in [*COMMANDS, "scenario"])


@pytest.mark.parametrize("command", [*COMMANDS, "scenario list", "scenario check"])
def test_every_command_explains_itself(command: str, kvlab) -> None:
    said = kvlab(*command.split(), "--help")
    assert said.code == 0 and "Usage" in said.out and said.err == ""


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["rnu"], "Did you mean 'run'?"),
        (["run"], "Missing argument 'SCENARIO'"),
        (["run", "--sesions", "3", "x"], "--sessions"),
        (["run", "x", "--seed", "-1"], "'--seed': must be greater than or equal to 0"),
        (["run", "x", "--sessions", "0"], "'--sessions'"),
        (["run", "x", "--fail-on", "wedgd"], "'wedgd' is no verdict; accepted: corrupt, "),
        (["scenario", "chek"], "Did you mean 'check'"),
        (["run", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["run", "."], ".: is a directory"),
    ],
)
def test_a_mistyped_command_line_is_one_line_and_exit_2(argv, says, kvlab, folder) -> None:
    said = kvlab(*argv)
    assert said.code == 2 and said.out == ""
    assert says in said.err and said.err.count("\n") == 1


def test_an_option_that_is_far_from_what_was_typed_is_not_offered(kvlab) -> None:
    said = kvlab("run", "x", "--knob", "3").err
    assert "No such option: --knob (`kvlab run --help` explains)" in said


def test_progress_is_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with RunProgress() as progress:
        progress.arm("an arm", 3)(1, 3)
    assert capsys.readouterr() == ("", "")


def test_json_keeps_the_bars_of_the_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"text": "<｜DSML｜invoke>"})
    assert "｜DSML｜" in capsys.readouterr().out
