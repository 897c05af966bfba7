"""The judge of an arm tells the place with the finding, and judges nothing otherwise."""

from __future__ import annotations

from lab.judging import judge_arm
from tests.lab.placing.shows import history
from tests.lab.placing.test_judge import wrong_at


def test_a_wrong_text_is_found_with_its_place() -> None:
    verdict, findings = judge_arm(history(wrong_at(0, 0, 60)))
    assert (verdict.verdict, verdict.replies_corrupt) == ("corrupt", 1)
    [wrong] = [found for found in findings if found.detector == "wrong_text"]
    assert "is a copy of prompt token" in wrong.detail


def test_a_right_arm_has_no_places() -> None:
    verdict, findings = judge_arm(history())
    assert (verdict.verdict, findings) == ("clean", [])
