"""What a comparison says first: a difference, none, or that it is not decided."""

from __future__ import annotations

from typing import Any

from lab.comparing import arms
from lab.comparing.sentence import sentence
from lab.repeats import Repeated
from lab.stats import holm
from tests.lab.samples import arm_verdict, history


def arm(name: str, before: int, now: int, sessions: int = 60, of: int = 1) -> dict[str, Any]:
    """A pair of arms, so many corrupt of so many before and now, as a comparison has it."""
    a, b = (
        arm_verdict(history(name, corrupt=k, sessions=sessions, turns=1), corrupt=k)
        for k in (before, now)
    )
    found = arms.tested(Repeated(a, (a,)), Repeated(b, (b,)), None, None, of)
    sides = [
        {"sessions": sessions, "sessions_corrupt": k, "sessions_missed": 0, "verdict": "clean"}
        for k in (before, now)
    ]
    return {"name": name, "a": sides[0], "b": sides[1], **vars(found), "same_history": None}


def said(*made: dict[str, Any]) -> str:
    """The answer on these arms."""
    corrected = holm([it["p_value"] for it in made])
    told = [{**it, "p_holm": p} for it, p in zip(made, corrected, strict=True)]
    return sentence({"arms": told, "same_history": False, "only_in_a": [], "only_in_b": []})


def test_no_arm_among_many_has_an_interval_that_its_p_denies() -> None:
    many = [arm(f"arm {n}", 0, 8 if n == 4 else 0, of=31) for n in range(31)]
    low, high = many[4]["ci95"]
    assert low < 0 < high
    told = said(*many)
    assert told.startswith(
        'Not decided whether B corrupts more or fewer sessions than A in "arm 4": 0 of 60 before,'
        " 8 of 60 now (+13.3 points, 95 % "
    )
    assert "Newcombe, 31 arms at once; p = 0.19, Fisher, exact, Holm over 31 arms" in told


def test_an_interval_without_zero_beside_a_p_that_shows_nothing_is_not_decided() -> None:
    one = arm("x", 0, 5)
    assert one["ci95"][0] > 0 and one["p_value"] > 0.05
    assert said(one).startswith("Not decided whether B corrupts more or fewer")


def test_few_sessions_are_not_a_proof_of_no_difference() -> None:
    assert said(arm("x", 0, 0, sessions=20)).startswith("Not decided")
    assert said(arm("x", 0, 0, sessions=400)).startswith("No difference in 1 arm that chance")


def test_what_differs_is_told_with_how_it_was_found_and_what_stays_open() -> None:
    told = said(arm("x", 10, 0, of=2), arm("y", 5, 3, of=2))
    assert told.startswith('B corrupts fewer sessions than A in "x": 10 of 60 before, 0 of 60 now')
    assert "Newcombe, 2 arms at once" in told and "Fisher, exact, Holm over 2 arms" in told
    assert told.endswith("1 arm not decided.")


def test_sessions_without_a_partner_are_named() -> None:
    one = arm("x", 10, 0)
    assert "no partner" not in said(one)
    assert "40 sessions of A have no partner: two samples" in said({**one, "unpaired": (40, 0)})
    assert "1 session of B has no partner" in said({**one, "unpaired": (0, 1)})


def test_an_arm_that_shows_nothing_is_said_to() -> None:
    one = arm("x", 10, 0)
    empty = {**one, "name": "y", "test": None, "a": {**one["a"], "sessions": 0}}
    told = sentence(
        {
            "arms": [{**one, "p_holm": one["p_value"]}, empty],
            "same_history": False,
            "only_in_a": [],
            "only_in_b": [],
        }
    )
    assert 'no session of A shows anything in "y"' in told and "Holm" not in told


def test_one_history_is_not_undecided_however_few_its_sessions() -> None:
    same = {**arm("x", 0, 0, sessions=20, of=2), "same_history": True}
    assert said(same, arm("y", 0, 0, sessions=900, of=2)).startswith("No difference in 2 arms")
