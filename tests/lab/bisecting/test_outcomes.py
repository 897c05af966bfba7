"""What counts as bad in a trial, by what is sought."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lab.bisecting.outcomes import CORRUPT, OUTCOMES, VIOLATED, WEDGED
from lab.judging import judge_arm
from lab.records import ArmHistory
from tests.lab.replies import EXPECTED, EXPECTED_CALL, TOOLS, said, strange
from tests.lab.samples import VIOLATION, history

WRONG = EXPECTED.replace("MINE12345", "MINE12354")
Field = int | str


def arm(*broken: dict[str, Field], wrong: tuple[int, ...] = ()) -> ArmHistory:
    """Four sessions of one turn, session n served as request n + 1; these invariants broke."""
    made = history("arm", sessions=4, turns=1)
    made.replies = [
        replace(
            said(WRONG if session in wrong else EXPECTED),
            session=session,
            request_id=f"chatcmpl-{session + 1}",
        )
        for session in range(4)
    ]
    offered = [{"function": {"name": name, "parameters": it}} for name, it in TOOLS.items()]
    made.events = [
        (0, "tools_offered", {"tools": json.dumps(offered)}),
        *((1, "violation", {"name": VIOLATION, "n": 1, **it}) for it in broken),
    ]
    made.counters = {"prefix_hits": 1, "graph_replays": 1}
    made.counters |= {f"violation:{VIOLATION}": len(broken)} if broken else {}
    return made


def bad(outcome: str, history: ArmHistory) -> tuple[int, str]:
    verdict, findings = judge_arm(history)
    return OUTCOMES[outcome](history, verdict, findings)


@pytest.mark.parametrize(
    ("made", "many"),
    [
        (arm({"request": 1}, {"request": 1}, {"victim": "request 3"}), 2),
        (arm({"request": 2}, wrong=(1, 3)), 2),
        (arm({"pool": "c4"}), 1),
        (arm({"owner": "cache"}, wrong=(0, 2)), 2),
        (arm(wrong=(2,)), 1),
        (arm(), 0),
    ],
    ids=[
        "sessions that are named, each once",
        "named and wrong, each once",
        "one of the boot's that nobody knows",
        "which may be one that is wrong",
        "wrong alone",
        "clean",
    ],
)
def test_a_session_is_violated_if_its_reply_is_wrong_or_a_broken_invariant_concerns_it(
    made: ArmHistory, many: int
) -> None:
    assert bad(VIOLATED, made) == (many, "")


def test_what_a_model_of_unknown_texts_missed_is_bad_and_left_to_the_search_s_own_control() -> None:
    made = arm()
    dropped = strange(content="Done.", expected_call=EXPECTED_CALL, session=2)
    made.replies = [replace(it, expected_text="", raw_text=None) for it in made.replies[:2]]
    made.replies.append(dropped)
    assert judge_arm(made)[0].sessions_corrupt == 0
    assert bad(CORRUPT, made) == (1, "")
    assert bad(VIOLATED, made) == (1, "")


def test_what_only_the_ledger_sees_is_no_corrupt_session_for_a_client() -> None:
    assert bad(CORRUPT, arm({"request": 1}))[0] == 0


def test_a_session_that_was_owed_no_reply_is_not_counted_by_itself() -> None:
    made = arm({"request": 1}, {"request": 2})
    made.replies[0] = replace(made.replies[0], due=False, status="aborted")
    assert bad(VIOLATED, made) == (1, "")
    made.replies[1] = replace(made.replies[1], due=False, status="aborted")
    assert bad(VIOLATED, made) == (1, "")  # the boot is bad still


def test_a_boot_that_wedged_without_a_broken_invariant_shows_nothing() -> None:
    made = replace(arm(), stalled="nobody waits for anything")
    assert bad(VIOLATED, made) == (0, "wedged: nobody waits for anything")
    assert bad(WEDGED, made) == (4, "nobody waits for anything")
