"""`kvlab scenario`: files are listed and checked without being run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.scenario.schema import schema
from tests.lab.scenario.files import GOOD, write


@pytest.fixture
def scenarios(folder: Path) -> Path:
    """`scenarios/` with a good file and a bad one."""
    root = folder / "scenarios"
    root.mkdir()
    write(root)
    (root / "bad.yaml").write_text(GOOD.replace("index_k: bf16", "index_k: bf61", 1))
    return root


def test_list_shows_every_file_and_what_is_wrong_with_it(scenarios: Path, kvlab) -> None:
    bad, good = kvlab("scenario", "list", "--root", "scenarios", "--json").json
    assert "'bf61' is not accepted" in bad["problem"] and bad["name"] is None
    assert good["name"] == "good" and len(good["arms"]) == 3 and good["problem"] is None
    shown = kvlab("scenario", "list", "--root", "scenarios").out
    assert "scenarios/" in shown and "  good " in shown
    assert "'bf61' is not accepted" in " ".join(shown.split())


def test_list_shows_a_campaign_by_what_is_flipped(folder: Path, kvlab) -> None:
    (folder / "campaigns").mkdir()
    flips = ("--toggle", "index_k=bf16,fp8", "--toggle", "graph=true,false")
    file = folder / "campaigns" / "mine.yaml"
    assert kvlab("scenario", "new", str(file), "--name", "mine", *flips).code == 0
    text = file.read_text("utf-8")
    file.write_text(re.sub(r"^arms:.*\n(  - .*\n)+", "", text, flags=re.MULTILINE), "utf-8")
    shown = kvlab("scenario", "list", "--root", "campaigns").out
    assert re.search("mine +bisect +2 toggles +mine", shown)


def test_list_has_one_s_own_scenarios_before_those_that_ship(scenarios: Path, kvlab) -> None:
    paths = [it["path"] for it in kvlab("scenario", "list", "--json").json]
    assert paths[:2] == ["scenarios/bad.yaml", "scenarios/good.yaml"]
    assert any(path.endswith("incidents/padded_scatter_stale_slots.yaml") for path in paths[2:])


def test_check_is_exit_2_and_one_line_a_file(scenarios: Path, kvlab) -> None:
    said = kvlab("scenario", "check")
    assert said.code == 2 and said.err.count("\n") == 2
    assert "scenarios/bad.yaml:7: engine.index_k" in said.err
    assert kvlab("scenario", "check", "scenarios/good.yaml").code == 0
    assert kvlab("scenario", "check", "scenarios").code == 2
    assert kvlab("scenario", "check", "none.yaml").code == 2


def test_schema_prints_the_schema(kvlab) -> None:
    assert kvlab("scenario", "schema").json == schema()


def test_a_root_that_is_no_folder_is_told(folder: Path, kvlab) -> None:
    said = kvlab("scenario", "list", "--root", "scenarios")
    assert said.code == 2 and "scenarios: no such folder" in said.err


def test_check_notes_what_has_no_effect_and_fails_nothing(scenarios: Path, kvlab) -> None:
    argv = ("scenario", "check", "scenarios/good.yaml", "--set", "engine.host_ratio=3")
    said = kvlab(*argv)
    told = "host_ratio has no effect: hicache is off"
    assert said.code == 0 and f"good.yaml: note: {told}\n" in said.err
    assert kvlab(*argv, "--json").json[0]["notes"] == [told]
