"""A schedule's text runs the sessions, turns and settings that it names, and no other."""

from __future__ import annotations

from dataclasses import replace

from lab.replaying.alone import effective, expectation
from lab.replaying.schedule import KIND, Subject, subject
from lab.scenario.loader import parse_scenario
from lab.scenario.models import Scenario
from lab.workloads import resolve

FILE = """
name: many
build: [index_k_under_allocated]
workload: {kind: round_robin, preset: small, groups: 4, think_s: 0.5, timeout_s: 600.0}
engine: {index_k: bf16, graph: true, concurrency: 6}
arms: [{name: slow, overlap: true, abort_rate: 0.25, sessions: 6}]
"""
DEVIATIONS = {
    "engine.index_k": ("bf16", "fp8"),
    "engine.concurrency": (6, 8),
    "engine.overlap": (True, False),
    "engine.abort_rate": (0.25, 0.0),
    "workload.groups": (4, 2),
    "workload.think_s": (0.5, 0.0),
    KIND: ("round_robin", "tool_sessions"),
}


def parsed(text: str) -> Scenario:
    return parse_scenario(text, "any.yaml")


def made() -> Subject:
    scenario = parsed(FILE)
    return subject(scenario, scenario.arms[0], 7)


def test_deviations_are_what_the_file_and_the_arm_set_otherwise_than_defaults_and_preset() -> None:
    found = made().deviations
    assert {key: (it.value, it.silent) for key, it in found.items()} == DEVIATIONS


def test_the_whole_schedule_is_the_arm() -> None:
    it = made()
    again = parsed(it.text(it.whole, "again", {}))
    (arm,) = again.arms
    assert (arm.name, again.seed, again.build) == ("slow", 7, ("index_k_under_allocated",))
    assert again.settings(arm) == it.scenario.settings(it.arm)
    assert again.load(arm) == it.scenario.load(it.arm)


def test_what_the_file_spells_out_as_it_is_anyway_stays_in_the_file() -> None:
    it = made()
    assert it.plain == {"graph": True}
    every = it.arm.model_copy(update={"overrides": it.scenario.settings(it.arm)})
    assert subject(it.scenario, every, 7).plain == it.plain  # a stored arm has all settings
    bare = parsed(it.text(replace(it.whole, kept=("engine.overlap",)), "again", {}))
    assert bare.engine == {"graph": True, "overlap": True}


def test_sessions_and_turns_that_are_left_out_change_nothing_in_those_that_are_kept() -> None:
    it = made()
    some = replace(it.whole.of((1, 4)), turns=(1, 2))
    again = parsed(it.text(some, "again", {}))
    one, four = resolve("round_robin", "small", again.load(again.arms[0])).kept(7)
    every = resolve("round_robin", "small", it.scenario.load(it.arm)).kept(7)
    assert (one.index, one.turns) == (1, every[1].turns[:1])
    assert four == every[4]


def test_a_setting_that_is_dropped_is_what_it_is_where_the_file_is_silent() -> None:
    it = made()
    bare = parsed(it.text(replace(it.whole, kept=("engine.overlap",)), "again", {}))
    (arm,) = bare.arms
    settings = bare.settings(arm)
    assert settings["overlap"] is True
    assert (settings["index_k"], settings["concurrency"], settings["abort_rate"]) == ("fp8", 8, 0)
    assert (bare.workload.kind, bare.workload.options["timeout_s"]) == ("tool_sessions", 600.0)
    assert "think_s" not in bare.workload.options
    assert bare.workload.options["only_turns"] == [2] * 6


def test_a_schedule_that_is_shortened_again_keeps_its_turns() -> None:
    it = made()
    short = parsed(it.text(replace(it.whole.of((1, 4)), turns=(1, 2)), "again", {}))
    again = subject(short, short.arms[0], 7)
    assert (again.whole.sessions, again.whole.turns) == ((1, 4), (1, 2))
    (four,) = parsed(again.text(again.whole.of((4,)), "x", {})).workload.options["only_turns"]
    assert four == 2


def test_the_effective_file_spells_out_all_that_the_arm_is() -> None:
    scenario = parsed(FILE)
    (arm,) = scenario.arms
    again = parsed(effective(scenario, arm, 7, {}))
    assert again.engine == scenario.settings(arm)
    assert again.workload.sessions == 6
    assert resolve("round_robin", "small", again.load(again.arms[0])) == resolve(
        "round_robin", "small", scenario.load(arm)
    )


def test_an_expectation_names_what_a_file_may_name() -> None:
    assert expectation("corrupt", ["row_shared_by_two_slots", "a_new_one"]) == {
        "verdict": "corrupt",
        "violations": ["row_shared_by_two_slots"],
    }
    assert expectation("nondeterministic", []) == {}
