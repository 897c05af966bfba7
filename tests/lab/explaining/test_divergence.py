"""The first wrong token of a reply."""

from __future__ import annotations

from dataclasses import replace

from lab.explaining.divergence import END, first_wrong
from tests.lab.explaining.histories import bad, good
from tests.lab.samples import RIGHT


def test_tokens_are_counted_by_the_tokenizer_and_specials_are_one() -> None:
    wrong = first_wrong(bad(0, 0, 6))
    assert wrong is not None
    assert (wrong.index, wrong.expected, wrong.got, wrong.different) == (6, "'f'", "'#'", 1)
    assert wrong.before == "<think>Call "
    assert wrong.expected_after.startswith("f for K1.</think>")
    assert wrong.got_after.startswith("# for K1.</think>")


def test_the_position_is_that_of_the_request_s_context() -> None:
    wrong = first_wrong(replace(bad(0, 0, 6), prompt_tokens=6000))
    assert wrong is not None and wrong.position == 6006


def test_quotes_begin_at_a_whole_letter_though_one_byte_of_it_is_wrong() -> None:
    wrong = first_wrong(replace(good(0, 0), raw_text="aé", expected_text="aè"))
    assert wrong is not None
    assert (wrong.index, wrong.expected, wrong.got) == (2, "byte 0xA8", "byte 0xA9")
    assert (wrong.before, wrong.expected_after, wrong.got_after) == ("a", "è", "é")


def test_a_reply_that_ends_early_is_wrong_where_it_ends() -> None:
    wrong = first_wrong(replace(good(0, 0), raw_text=RIGHT[:20]))
    assert wrong is not None and wrong.got == END and wrong.before.endswith(RIGHT[10:20])


def test_a_reply_that_goes_on_is_wrong_behind_the_right_end() -> None:
    wrong = first_wrong(replace(good(0, 0), raw_text=RIGHT + "x"))
    assert wrong is not None and (wrong.expected, wrong.got) == (END, "'x'")


def test_a_right_text_and_one_that_nobody_knows_have_none() -> None:
    assert first_wrong(good(0, 0)) is None
    assert first_wrong(replace(good(0, 0), raw_text=None)) is None
    assert first_wrong(replace(bad(0, 0, 6), expected_text="")) is None
