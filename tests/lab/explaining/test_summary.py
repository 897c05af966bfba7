"""A line a corrupt session, and the share of those whose damage was found."""

from __future__ import annotations

from lab.explaining import summary
from lab.explaining.choosing import Explanation, explanations
from tests.lab.explaining.histories import arm, bad, found, good, read, violation


def some() -> list[Explanation]:
    """Session 0 read a wrong row; session 1 met nothing that is known, though the arm did."""
    other = violation("padded_row_wrote_owned_slot", owner="request 99")
    made = arm(bad(0, 0, 6), bad(1, 0, 9), good(2, 0), events=(other, read("read_after_free", 1)))
    return list(explanations(made, found(made)))


def test_a_line_has_the_token_the_damage_and_the_question() -> None:
    first, second, _ = summary.lines(some())
    assert first == (
        "session 0 turn 0, token 6: read_after_free at 1.030000 s (by read); "
        "prefix_pin or page_reuse"
    )
    assert second.startswith("session 1 turn 0, token 9: none that is joined to it; the arm's")


def test_only_what_is_joined_to_the_session_counts() -> None:
    assert summary.lines(some())[-1] == (
        "the ledger found the damage at or before the first wrong token in 1 of 2 corrupt "
        "sessions (50.0 %)."
    )
    assert summary.counted(some()) == {"corrupt": 2, "found": 1, "share": 0.5}
    assert [row["found"] for row in summary.rows(some())] == [True, False]


def test_sessions_that_failed_otherwise_are_counted_apart() -> None:
    made = arm(good(0, 0))
    lost = list(explanations(made, found(made, "unfinished", "timed_out")))
    assert summary.lines(lost) == [
        "1 more session failed otherwise than by its text.",
        "no session is corrupt.",
    ]
    assert summary.counted(lost)["share"] is None
