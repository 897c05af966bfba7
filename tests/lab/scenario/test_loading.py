"""A good scenario says what each arm is, and its source says it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import ScenarioError
from lab.scenario.loader import capped, expectations, load_scenario, parse_scenario
from lab.scenario.pairs import pair
from lab.toggles import defaults
from lab.workloads import PRESETS
from tests.lab.scenario.files import GOOD, write


def test_settings_come_from_defaults_then_preset_then_file_then_arm(tmp_path: Path) -> None:
    scenario = load_scenario(write(tmp_path))
    first, second, third = (scenario.settings(arm) for arm in scenario.arms)
    assert first["radix"] is True  # the toggle's default
    assert first["pool_pages"] == PRESETS["reference"].engine["pool_pages"]
    assert first["pool_pages"] != defaults()["pool_pages"]
    assert (first["index_k"], second["index_k"]) == ("bf16", "fp8")
    assert (first["concurrency"], third["concurrency"]) == (60, 1)


def test_an_arm_may_have_its_own_number_of_sessions(tmp_path: Path) -> None:
    scenario = load_scenario(write(tmp_path))
    assert [scenario.sessions(arm) for arm in scenario.arms] == [60, 60, 12]


@pytest.mark.parametrize(
    ("most", "left"), [(6, [6, 6, 6]), (12, [12, 12, 12]), (30, [30, 30, 12]), (200, [60, 60, 12])]
)
def test_sessions_are_capped_never_raised_and_the_source_says_so(
    most: int, left: list[int], tmp_path: Path
) -> None:
    scenario = capped(load_scenario(write(tmp_path), ["engine.radix=false"]), most)
    assert [scenario.sessions(arm) for arm in scenario.arms] == left
    assert parse_scenario(scenario.source, str(scenario.path)) == scenario
    assert scenario.engine["radix"] is False


def test_the_preset_s_sessions_are_capped_as_the_file_s_own(tmp_path: Path) -> None:
    text = GOOD.replace(", preset: reference, sessions: 60", ", preset: small")
    scenario = load_scenario(write(tmp_path, text))
    assert capped(scenario, None) == scenario
    small = capped(scenario, 3)
    assert [small.sessions(arm) for arm in small.arms] == [3, 3, 3]
    assert "sessions: 3" in small.source
    assert [capped(scenario, 20).sessions(arm) for arm in scenario.arms] == [8, 8, 12]


def test_the_preset_gives_the_sessions_that_the_file_does_not(tmp_path: Path) -> None:
    text = GOOD.replace(", preset: reference, sessions: 60", ", preset: small")
    scenario = load_scenario(write(tmp_path, text))
    assert scenario.workload.sessions == 8
    assert scenario.settings(scenario.arms[0])["index_topk"] == 16  # short contexts still select


def test_an_expectation_is_found_by_name_or_by_star(tmp_path: Path) -> None:
    scenario = load_scenario(write(tmp_path))
    named, starred = scenario.expected("bf16, graph on"), scenario.expected("fp8, graph on")
    assert named is not None and named.violations == ("padded_row_wrote_owned_slot",)
    assert starred is not None and starred.verdict == "clean"


def test_options_patch_the_file_before_it_is_checked(tmp_path: Path) -> None:
    sets = ["engine.radix=false", "arms.1.index_k=bf16", "workload.turns=2", "build=[]"]
    scenario = load_scenario(write(tmp_path), sets, seed=5)
    assert scenario.seed == 5 and scenario.build == ()
    assert scenario.engine["radix"] is False
    assert scenario.arms[1].overrides == {"index_k": "bf16"}
    assert scenario.load(scenario.arms[2])["turns"] == 2


def test_the_source_reads_back_as_the_same_scenario(tmp_path: Path) -> None:
    scenario = load_scenario(write(tmp_path), ["engine.radix=false"], seed=5)
    again = parse_scenario(scenario.source, str(scenario.path))
    assert again == scenario
    assert "# what the code under test contains" in scenario.source


def test_expectations_are_read_whatever_the_rest_says() -> None:
    now = parse_scenario(GOOD, "good.yaml").expect
    text = GOOD.replace("preset: reference", "preset: gone").replace("graph: true,", "old: 3,")
    assert expectations(text, "old.yaml") == now
    assert expectations("name: silent", "silent.yaml") == {}
    with pytest.raises(ScenarioError, match=r"^old.yaml:17: expect.\*.verdict: 'cleen'"):
        expectations(GOOD.replace("verdict: clean", "verdict: cleen"), "old.yaml")


def test_a_bare_name_finds_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios" / "incidents").mkdir(parents=True)
    write(tmp_path / "scenarios" / "incidents")
    monkeypatch.chdir(tmp_path)
    assert load_scenario(Path("good")).path == Path("scenarios/incidents/good.yaml")


def test_a_pair_keeps_two_arms_and_their_expectations(tmp_path: Path) -> None:
    two = pair(load_scenario(write(tmp_path)), ["bf16, one at a time", "fp8, graph on"], None)
    assert [arm.name for arm in two.arms] == ["bf16, one at a time", "fp8, graph on"]
    assert two.sessions(two.arms[0]) == 12
    assert list(two.expect) == ["*"]
    assert parse_scenario(two.source, str(two.path)) == two


def test_a_pair_of_one_toggle_makes_its_own_arms(tmp_path: Path) -> None:
    two = pair(load_scenario(write(tmp_path)), [], "graph=true,false")
    assert [arm.name for arm in two.arms] == ["graph=true", "graph=false"]
    assert [two.settings(arm)["graph"] for arm in two.arms] == [True, False]
    assert two.expect == {}


@pytest.mark.parametrize(
    ("names", "toggle", "says"),
    [
        ([], None, "name two arms"),
        (["fp8, graph on"], None, "name two arms"),
        (["fp8, graph on", "fp8, graph on"], None, "name two arms"),
        (["fp8, graph on", "fp8, grph off"], None, "did you mean"),
        (["fp8, graph on"], "graph=true,false", "makes its own arms"),
        ([], "graph=true", "not a toggle"),
        ([], "grap=true,false", "did you mean 'graph'"),
        ([], "graph=true,true", "both sides are equal"),
        ([], "pool_pages={,64", "--toggle pool_pages={,64: the value is not YAML"),
        ([], "pool_pages=64,[", "--toggle pool_pages=64,[: the value is not YAML"),
        ([], "pool_pages={,}", "the value is not YAML"),
        ([], "graph=true,maybe", "--toggle graph=true,maybe: arms.1.graph: 'maybe'"),
    ],
)
def test_a_pair_that_cannot_be_is_told(
    names: list[str], toggle: str | None, says: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError) as caught:
        pair(load_scenario(write(tmp_path)), names, toggle)
    assert says in str(caught.value) and "\n" not in str(caught.value)
