"""A line a corrupt session, and to how many damage is joined."""

from __future__ import annotations

from lab.explaining import summary
from lab.explaining.baseline import Chance
from lab.explaining.choosing import explanations
from lab.explaining.explanation import Explanation
from tests.lab.explaining.histories import arm, bad, found, good, read, violation


def some() -> list[Explanation]:
    """Session 0 read a wrong row; session 1 met nothing that is known, though the arm did."""
    other = violation("padded_row_wrote_owned_slot", owner="request 99")
    made = arm(bad(0, 0, 6), bad(1, 0, 9), good(2, 0), events=(other, read("read_after_free", 1)))
    return list(explanations(made, found(made)))


def test_a_line_has_the_token_the_damage_and_the_question() -> None:
    first, second, _ = summary.lines(some(), None)
    assert first == (
        "session 0 turn 0, token 6: read_after_free at 1.030000 s (by read, 3 tokens before); "
        "prefix_pin or page_reuse"
    )
    assert second.startswith("session 1 turn 0, token 9: none that is joined to it; the arm's")


def test_only_what_is_joined_to_the_session_counts() -> None:
    assert summary.lines(some(), Chance(43, 0.4, 0.25))[-1] == (
        "damage is joined to 1 of 2 corrupt sessions (50.0 %), to 1 by a read, at or before the "
        "first wrong token (43 right replies asked at the same tokens: 40.0 % by any join, 25.0 % "
        "by a read)."
    )
    assert summary.counted(some(), Chance(43, 0.4, 0.25)) == {
        "corrupt": 2,
        "joined": 1,
        "joined_by_read": 1,
        "share": 0.5,
        "random_replies": 43,
        "random_share": 0.4,
        "random_share_by_read": 0.25,
    }
    assert [row["joined"] for row in summary.rows(some())] == [True, False]
    assert [row["tokens_before"] for row in summary.rows(some())] == [3, None]


def test_where_no_reply_is_right_it_is_said_that_the_share_has_nothing_beside_it() -> None:
    assert "no reply is right and as long" in summary.lines(some(), None)[-1]


def test_sessions_that_failed_otherwise_are_counted_apart() -> None:
    made = arm(good(0, 0))
    lost = list(explanations(made, found(made, "unfinished", "timed_out")))
    assert summary.lines(lost, None) == [
        "1 more session failed otherwise than by its text.",
        "no session is corrupt.",
    ]
    assert summary.counted(lost, None)["share"] is None
