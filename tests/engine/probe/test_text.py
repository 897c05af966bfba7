"""A text that breaks what the probe needs is found out."""

from __future__ import annotations

import pytest

from engine.probe import text
from engine.probe.replies import reply
from engine.scribe.manual import FUNCTIONS, RULES_TEXT
from engine.text.tokenizer import decode, encode

REF = "ABCD0123"
ENTRY = text.Entry("ABCDEFGHIJ01", FUNCTIONS[0], "AAAABBBB", 15)
OTHER = text.Entry("ABCDEFGHIJ02", FUNCTIONS[0], "CCCCDDDD", 20)


def asked(said: str, ref: str = REF) -> str:
    return f"<｜User｜>{text.first_turn(ref, ENTRY.key)}<｜Assistant｜>{said}<｜end▁of▁sentence｜>"


def flaws(*parts: str) -> list[str]:
    return text.flaws(encode("".join(parts)))


def test_a_conversation_by_the_manual_has_no_flaw() -> None:
    said = asked(reply(ENTRY, REF))
    assert flaws(ENTRY.text, OTHER.text, RULES_TEXT, said, said) == []


def test_a_turn_names_its_reference_and_key_right_before_the_reply() -> None:
    line = '{"ref":"ABCD0123","key":"ABCDEFGHIJ01"}'
    assert text.first_turn(REF, ENTRY.key).endswith(line)
    assert text.later_turn(REF, ENTRY.key) == '{"status":"ok",' + line[1:]


@pytest.mark.parametrize(
    "given",
    [("ABC", "AAAABBBB", 15), ("ABCDEFGHIJ01", "AAAAKKKK", 15), ("ABCDEFGHIJ01", "A" * 9, 21)],
)
def test_words_and_runs_that_the_probe_cannot_follow_are_refused(given) -> None:
    key, value, holes = given
    with pytest.raises(ValueError, match="accepted"):
        text.Entry(key, FUNCTIONS[0], value, holes)


@pytest.mark.parametrize("ref", ["ABCD012", "ABCD012Z"])
def test_a_reference_of_other_letters_is_refused(ref: str) -> None:
    with pytest.raises(ValueError, match="ref"):
        text.request(ref, ENTRY.key)


def test_a_reply_that_follows_another_too_soon_is_a_flaw() -> None:
    found = flaws(ENTRY.text, asked("no"), asked("no"))
    assert any("tokens after another" in flaw for flaw in found)


def test_a_reply_without_an_end_is_a_flaw() -> None:
    found = flaws(ENTRY.text, "<｜Assistant｜>" + "a" * 600)
    assert any("does not end" in flaw for flaw in found)


def test_one_window_with_two_followers_is_a_flaw() -> None:
    said = asked(reply(ENTRY, REF))
    [found] = flaws(ENTRY.text, RULES_TEXT, said, said.replace("code", "cash"))
    assert "follow the same 22 tokens" in found


def test_a_key_that_is_answered_with_two_symbols_is_a_flaw() -> None:
    before = reply(ENTRY, REF)
    other = next(ref for ref in ("AAAA0000", "BBBB1111") if reply(ENTRY, ref) != before)
    assert flaws(ENTRY.text, RULES_TEXT, asked(before), asked(reply(ENTRY, other))) != []


def test_a_run_that_fills_the_window_is_a_flaw() -> None:
    long = ENTRY.text.replace("?" * 15, "?" * 23)
    assert any("follow the same" in flaw for flaw in flaws(long, asked(decode(encode("no")))))
