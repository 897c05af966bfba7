"""What a join is worth: right replies that read a wrong row, too."""

from __future__ import annotations

from lab.explaining.baseline import Base, Chance, base_of, chance, right_replies
from lab.explaining.evidence import Evidence
from lab.records import ArmHistory
from tests.lab.explaining.histories import arm, bad, found, good, read, violation


def read_by(*requests: int) -> ArmHistory:
    """Sessions 0 to 3, of which 0 is wrong; these requests read a wrong row for token 4."""
    reads = tuple(read("read_foreign_row", by, 4) for by in requests)
    return arm(bad(0, 0, 6), good(1, 0), good(2, 0), good(3, 0), events=reads)


def test_replies_that_read_a_wrong_row_and_are_right_are_counted() -> None:
    made = read_by(1, 11, 21)
    evidence = Evidence(made)
    right = right_replies(made, found(made))
    assert base_of(evidence.damages[0], evidence, right) == Base(replies=3, right=2)


def test_a_random_place_is_joined_to_damage_where_a_right_reply_read_before_it() -> None:
    made = read_by(1, 11)
    right = right_replies(made, found(made))
    assert len(right) == 3
    assert chance([6], Evidence(made), right) == Chance(3, 1 / 3, 1 / 3)
    assert chance([3], Evidence(made), right) == Chance(3, 0, 0)
    assert chance([3, 6], Evidence(made), right) == Chance(3, 1 / 6, 1 / 6)


def test_right_replies_to_which_damage_is_joined_otherwise_than_by_a_read_count_apart() -> None:
    own = violation("padded_row_wrote_owned_slot", 0.5, owner="request 21")
    made = arm(
        *(bad(0, 0, 6), good(1, 0), good(2, 0), good(3, 0)),
        events=(own, read("read_foreign_row", 11, 4)),
    )
    right = right_replies(made, found(made))
    assert chance([6], Evidence(made), right) == Chance(3, 2 / 3, 1 / 3)


def test_without_a_right_reply_that_is_as_long_nothing_is_known() -> None:
    made = read_by(1)
    right = right_replies(made, found(made))
    assert chance([600], Evidence(made), right) is None
    assert chance([6], Evidence(made), []) is None
