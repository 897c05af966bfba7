"""A run that was made smaller or changed does not contradict its file where no arm fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.asking import asked, unlike_its_file
from lab.judging import judge_run
from lab.records import ArmVerdict, Asked
from lab.report import words
from lab.report.table import run_report
from lab.scenario.loader import load_scenario
from tests.lab.judging.test_runs import named
from tests.lab.judging.test_verdicts import USED
from tests.lab.report.test_table import printed
from tests.lab.scenario.files import write

UNUSED = {**USED, "pages_restored": 0}
EXPECT = {"bad": {"verdict": "corrupt"}, "*": {"verdict": "clean"}}
CAPPED = Asked(sessions={"bad": 60, "good": 60})


def judged(how: Asked | None, **bad: Any) -> tuple[ArmVerdict, ...]:
    arms = [named("bad", 0, 24, **bad), named("good", 0, 24, settings={"graph": False})]
    return judge_run("r", "s", 0, arms, EXPECT, how)[0].arms


def test_what_was_typed_can_be_typed_again(tmp_path: Path) -> None:
    path = write(tmp_path)
    sets = ["engine.pool_pages=280", "about=it's new"]
    how = asked(["run"], Path("good"), load_scenario(path, sets), sets=sets, seed=0, sessions=24)
    assert how.argv == (
        *("kvlab", "run", "good", "--set", "engine.pool_pages=280", "--set", "about=it's new"),
        *("--sessions", "24", "--seed", "0"),
    )


def test_only_arms_that_were_capped_remember_the_sessions_of_the_file(tmp_path: Path) -> None:
    whole = load_scenario(write(tmp_path))
    due = {arm.name: whole.sessions(arm) for arm in whole.arms}
    most = min(due.values())
    how = asked(["ab", "a", "b"], Path("good"), whole, sessions=most)
    assert how.sessions == {name: n for name, n in due.items() if n > most}
    assert how.argv[:5] == ("kvlab", "ab", "good", "a", "b")
    assert asked(["run"], Path("good"), whole).sessions == {}


def test_a_smaller_run_says_for_how_many_the_expectation_holds() -> None:
    text = "run with 24 of 60 sessions; what the file expects holds for 60"
    assert unlike_its_file(CAPPED, "bad", 24) == text
    changed = Asked(sets=("engine.pool_pages=280",), sessions={"bad": 60})
    assert unlike_its_file(changed, "bad", 24) == (
        "run with 24 of 60 sessions, --set engine.pool_pages=280; "
        "what the file expects holds for the file as it is"
    )
    assert unlike_its_file(CAPPED, "another", 12) == unlike_its_file(Asked(), "bad", 12) == ""


def test_an_inconclusive_arm_of_a_smaller_run_is_open_and_not_wrong() -> None:
    bad, good = judged(CAPPED, counters=UNUSED)
    assert bad.caveat.startswith("run with 24 of 60 sessions") and not good.caveat
    assert (words.expected_word(bad), words.as_expected(bad)) == ("open", True)
    (said,) = words.expectation([bad, good])
    assert said.startswith("1 of 2 arms open (run with 24 of 60 sessions; what the file expects")


@pytest.mark.parametrize("how", [CAPPED, Asked(sets=("engine.pool_pages=280",))])
def test_a_clean_arm_of_a_smaller_or_changed_run_did_not_meet_what_its_file_expects(
    how: Asked,
) -> None:
    bad, good = judged(how)
    assert (bad.verdict, words.expected_word(bad)) == ("clean", "open")
    assert (good.caveat, words.expected_word(good)) == ("", "yes")
    (said,) = words.expectation([bad, good])
    assert said == f"1 of 2 arms open ({bad.caveat})"


def test_a_smaller_run_that_fails_where_its_file_expects_none_is_not_as_expected() -> None:
    arms = [named("bad", 9, 24), named("good", 1, 24, settings={"graph": False})]
    bad, good = judge_run("r", "s", 0, arms, EXPECT, CAPPED)[0].arms
    assert (words.expected_word(bad), good.caveat) == ("yes", "")
    assert words.expected_word(good) == "NO: clean"
    assert words.expectation([bad, good]) == ["1 of 2 arms NOT as expected"]


def test_a_clean_arm_of_the_whole_file_is_not_as_expected() -> None:
    for how in (None, Asked()):
        bad, _ = judged(how)
        assert (bad.verdict, words.expected_word(bad)) == ("clean", "NO: corrupt")


def test_an_inconclusive_arm_of_the_whole_file_is_not_as_expected() -> None:
    for how in (None, Asked()):
        bad, _ = judged(how, counters=UNUSED)
        assert words.expected_word(bad) == "NO: corrupt"


def test_the_headline_of_a_smaller_run_does_not_shout() -> None:
    arms = [named("bad", 0, 24, counters=UNUSED), named("good", 0, 24, settings={"graph": False})]
    verdict, _ = judge_run("r", "s", 0, arms, EXPECT, CAPPED)
    text = printed(run_report(verdict), width=200)
    assert "1 of 2 arms open (run with 24 of 60" in text and "NO" not in text
