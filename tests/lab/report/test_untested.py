"""What a run does not show is said in words: arms, toggles, paths, judges, settings, rates."""

from __future__ import annotations

from dataclasses import replace

from lab.bisect.conclusion import Verdict
from lab.records import Finding
from lab.report.bisection_untested import untested as of_bisection
from lab.report.untested import untested
from tests.lab.bisections import ended
from tests.lab.report.pages import clean_run
from tests.lab.report.test_views import STORED
from tests.lab.samples import history, run_verdict, sample_run


def test_what_n_leaves_possible_is_said_once_for_arms_of_one_bound() -> None:
    verdict, arms = sample_run()
    lines = untested(verdict, STORED, arms, {})
    bound = 'a rate below 6.0 % is not excluded by n = 60 (arms "fp8, graph on", "bf16, graph off")'
    assert lines.count(bound) == 1
    assert not any("16.7" in line for line in lines)


def test_arms_of_the_file_that_did_not_run_are_named() -> None:
    verdict, arms = sample_run()
    yaml = "arms: [{name: last}, {name: 'fp8, graph on'}]\n"
    assert untested(verdict, replace(STORED, yaml=yaml), arms, {})[0] == (
        'arms that did not run: "last"'
    )


def test_a_toggle_that_is_on_and_never_exercised_is_named_with_its_arms() -> None:
    idle = history("idle")
    idle.settings = {**idle.settings, "hicache": True}
    lines = untested(run_verdict("r", [idle], {"idle": 0}), None, [idle], {})
    assert 'on, and never exercised: graph, hicache (arm "idle")' in lines


def test_a_path_without_a_call_is_named() -> None:
    arm = history("one")
    arm.counters |= {"path:c4:load:token_granular:layer_first": 0}
    lines = untested(run_verdict("r", [arm], {"one": 0}), None, [arm], {})
    assert any("copy paths without a call: token_granular (load) for c4" in line for line in lines)


def test_what_a_judge_could_not_judge_is_counted() -> None:
    arm = history("one")
    doubts = [Finding(0, 0, "wrong_value", "unknown", "no call"), Finding(0, 1, "loop", "pass", "")]
    lines = untested(run_verdict("r", [arm], {"one": 0}), None, [arm], {"one": doubts})
    assert 'replies that a judge could not judge: wrong_value 1 (arm "one")' in lines


def test_the_row_of_the_batch_is_said_to_be_unknown_where_replies_are_wrong() -> None:
    verdict, arms = sample_run()
    line = "not recorded: which row of the batch a reply had"
    assert line in untested(verdict, STORED, arms, {})
    assert line not in untested(clean_run().verdict, STORED, arms, {})


def test_counters_that_moved_in_no_arm_and_settings_that_none_varies_are_told() -> None:
    verdict, arms = sample_run()
    lines = untested(verdict, STORED, arms, {})
    assert any(
        it.startswith("never happened in any arm: host_hits, pages_restored") for it in lines
    )
    assert lines[-1].startswith("not varied: 4 settings are the same in every arm")


def test_a_bisection_names_what_nobody_flipped_and_what_was_never_reached() -> None:
    lines = of_bisection(ended(Verdict.CONFIRMED))
    assert any("not excluded: n = " in line for line in lines)
    assert any("copy paths without a call: token_granular (load) for " in it for it in lines)
    flipped = next(line for line in lines if "never flipped" in line)
    assert "hicache" in flipped and "index_k" not in flipped.replace("decode_index_k", "")
