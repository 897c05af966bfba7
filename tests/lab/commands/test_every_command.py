"""Each command, whichever there are: it explains itself with an example that can be typed, and
tells in one line what to do next where it was asked wrongly.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
import typer

from lab.app import app
from lab.commands.examples import EXAMPLES, commands
from lab.store import open_results

if TYPE_CHECKING:
    from pathlib import Path

EVERY = [name for name, _ in commands(app)]
GROUPS = [group.name or "" for group in app.registered_groups]
SCENARIO = ("run", "ab", "sweep", "bisect", "serve", "scenario explain", "scenario check")
STORED = ("runs", "show", "report", "judge", "explain", "timeline", "replay last 3")
RESUMED = ("run good.yaml", "ab good.yaml --toggle graph=true,false", "bisect")


@pytest.mark.parametrize("name", EVERY)
def test_a_command_explains_itself_with_an_example(name: str, kvlab) -> None:
    said = kvlab(*name.split(), "--help")
    assert said.code == 0 and said.err == "" and "Usage" in said.out
    shown = " ".join(said.out.split())
    assert f"Example: {EXAMPLES[name]}" in shown


@pytest.mark.parametrize("name", EVERY)
def test_an_example_is_a_command_line_that_is_understood(name: str) -> None:
    command = typer.main.get_command(app)
    kvlab, *argv = shlex.split(EXAMPLES[name])
    assert kvlab == "kvlab" and argv[: len(name.split())] == name.split()
    for step in name.split():
        command = command.commands[step]  # type: ignore[attr-defined]
    command.make_context(name, argv[len(name.split()) :])


@pytest.mark.parametrize("name", EVERY)
def test_a_wrong_option_is_one_line_that_names_the_help(name: str, kvlab, folder: Path) -> None:
    said = kvlab(*name.split(), "--nonsense")
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert "No such option: --nonsense" in said.err and f"`kvlab {name} --help`" in said.err


@pytest.mark.parametrize("group", GROUPS)
def test_a_wrong_subcommand_is_one_line_that_names_the_help(group: str, kvlab) -> None:
    said = kvlab(group, "nonsense")
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert f"`kvlab {group} --help` explains" in said.err


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_without_a_subcommand_lists_them(group: str, kvlab) -> None:
    said = kvlab(group)
    own = [name.split()[1] for name in EVERY if name.startswith(f"{group} ")]
    assert said.code == 0 and own and all(name in said.out for name in own)


@pytest.mark.parametrize("name", SCENARIO)
def test_a_missing_scenario_is_one_line_that_names_the_list(name: str, kvlab, folder: Path) -> None:
    said = kvlab(*name.split(), "zzz")
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert "zzz: no such file; `kvlab scenario list` shows those that there are" in said.err


@pytest.mark.parametrize("name", ["run", "ab", "sweep", "serve", "scenario explain"])
def test_a_name_that_is_nearly_a_scenario_s_is_told(name: str, kvlab, folder: Path) -> None:
    said = kvlab(*name.split(), "padded_scater_stale_slots")
    assert said.code == 2 and "(did you mean '" in said.err
    assert said.err.rstrip().endswith("padded_scatter_stale_slots.yaml'?)")


@pytest.mark.parametrize("line", [*STORED, *(f"{it} --resume last" for it in RESUMED)])
def test_a_missing_database_is_one_line_that_says_what_makes_it(
    line: str, kvlab, folder: Path
) -> None:
    said = kvlab(*line.split())
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert "results/lab.duckdb: no such database; `kvlab " in said.err and "--db" in said.err


@pytest.mark.parametrize("line", [*STORED[1:], *(f"{it} --resume last" for it in RESUMED)])
def test_an_empty_database_is_one_line_that_says_what_fills_it(
    line: str, kvlab, folder: Path
) -> None:
    with open_results(folder / "empty.duckdb"):
        pass
    said = kvlab(*line.split(), "--db", "empty.duckdb")
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert "empty.duckdb: holds no " in said.err and " makes one" in said.err


def test_a_list_of_no_runs_says_what_makes_one(kvlab, folder: Path) -> None:
    with open_results(folder / "empty.duckdb"):
        pass
    said = kvlab("runs", "--db", "empty.duckdb")
    assert said.code == 0 and "`kvlab run SCENARIO` makes one" in said.out
