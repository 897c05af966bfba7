"""Sentences that differ only in their numbers."""

from __future__ import annotations

from lab.alike import alike


def test_a_number_that_is_not_the_same_in_all_is_replaced_and_others_stay() -> None:
    said = [f"HTTP 500: room {n} failed after 8.000 s: why" for n in (3, 72)]
    assert alike(said) == {"HTTP 500: room N failed after 8.000 s: why": 2}


def test_one_sentence_alone_is_told_as_it_is_however_often() -> None:
    assert alike(["no end after 600.0 s"] * 3) == {"no end after 600.0 s": 3}
    assert alike([]) == {}


def test_the_most_frequent_come_first() -> None:
    assert list(alike(["a 1", "b", "b", "c 1.5 s.", "c 2.5 s.", "c 3.5 s."])) == [
        *("c N s.", "b", "a 1"),
    ]
