"""Which arms share a boot, in which order, and what a dry run prints of it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from lab.dry_run import dry_run, dry_run_lines
from lab.errors import ScenarioError
from lab.scenario.loader import load_scenario, parse_scenario
from lab.scenario.rounds import repeated
from lab.targets.boots import boots
from tests.lab.scenario.files import GOOD
from tests.lab.scenario.servers import served

if TYPE_CHECKING:
    from pathlib import Path

    from lab.scenario.models import Scenario


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """Three arms on two boots."""
    return load_scenario(served(tmp_path))


def names(scenario: Scenario) -> list[list[str]]:
    return [[arm.name for arm in boot.arms] for boot in boots(scenario)]


def test_arms_that_differ_in_their_load_share_a_boot_and_the_first_stays_the_first(
    scenario: Scenario,
) -> None:
    assert names(scenario) == [["cached", "cached and alone"], ["uncached"]]


def test_every_second_round_goes_backwards(scenario: Scenario) -> None:
    first = [["cached", "cached and alone"], ["uncached"]]
    second = [["uncached #2"], ["cached #2", "cached and alone #2"]]
    third = [["cached #3", "cached and alone #3"], ["uncached #3"]]
    assert names(repeated(scenario, 3)) == [*first, *second, *third]


def test_a_repetition_is_an_arm_with_the_same_settings_and_expectation() -> None:
    twice = repeated(parse_scenario(GOOD, "good.yaml"), 2)
    one, other = twice.arms[0], twice.arms[3]
    assert (other.name, other.round) == ("bf16, graph on #2", 2)
    assert twice.settings(one) == twice.settings(other)
    assert twice.expected(other.name) == twice.expected(one.name)
    assert twice.sessions(twice.arms[5]) == 12


def test_a_name_that_a_repetition_would_take_is_told(scenario: Scenario) -> None:
    text = scenario.source.replace("name: uncached", "name: 'cached #2'")
    with pytest.raises(ScenarioError, match=r"--repeats 2: arms\.3\.name: 'cached #2' names arm 1"):
        repeated(parse_scenario(text, "served.yaml"), 2)


def test_the_engine_in_this_process_has_one_boot_without_commands() -> None:
    (boot,) = boots(parse_scenario(GOOD, "good.yaml"))
    assert len(boot.arms) == 3 and boot.commands == ()


def test_a_dry_run_is_comments_and_commands_that_a_shell_reads(scenario: Scenario) -> None:
    lines = list(dry_run_lines(dry_run(scenario)))
    assert lines[0] == "# boot 1, 16 sessions: arms 'cached', 'cached and alone'"
    words = ["python3", "-m", "shop", "--model", "/models/tiny", "--port", "30000"]
    assert shlex.split(lines[1]) == [*words, "--enable-prefix-caching"]
    assert shlex.split(lines[3]) == [*words, "--no-enable-prefix-caching"]


def test_a_dry_run_of_what_starts_nothing_says_so() -> None:
    (line,) = dry_run_lines(dry_run(parse_scenario(GOOD, "good.yaml")))
    assert line.startswith("# bundled: starts nothing; arms 'bf16, graph on', ")


def test_a_dry_run_is_a_document(scenario: Scenario) -> None:
    found = json.loads(json.dumps(dry_run(scenario)))
    assert [boot["sessions"] for boot in found["boots"]] == [16, 8]
    assert found["boots"][0]["commands"][0]["node"] == "server"
