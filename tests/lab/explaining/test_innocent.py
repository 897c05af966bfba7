"""Where to look when no wrong row was read: no more is said than the evidence holds."""

from __future__ import annotations

from dataclasses import replace

from lab.explaining import explained, said
from lab.records import ArmHistory
from tests.lab.explaining.histories import arm, bad, found


def told(made: ArmHistory, kind: str, judge: str) -> str:
    it = explained(made, found(made, kind, judge), 0)
    assert it is not None
    return " ".join(" ".join(said(it)).split())


def foreign(expected: str | None = None) -> ArmHistory:
    reply = bad(0, 0, 6)
    made = arm(reply if expected is None else replace(reply, expected_text=expected))
    made.events.insert(0, (0, "server", {"url": "http://127.0.0.1:1", "boot": 1, "model": "m"}))
    return made


def test_an_unknown_text_that_was_parsed_otherwise_is_not_said_to_be_right() -> None:
    text = told(foreign(""), "parser_fault", "parser_fault")
    assert "The raw text may be right: it was parsed otherwise: look at the parser." in text
    text = told(foreign(), "parser_fault", "parser_fault")
    assert "The raw text is right and was parsed otherwise: look at the parser." in text


def test_of_a_server_s_two_answers_nobody_knows_the_right_one() -> None:
    text = told(foreign(""), "nondeterministic", "nondeterminism")
    assert "nobody knows which answer is right" in text
    text = told(arm(bad(0, 0, 6)), "nondeterministic", "nondeterminism")
    assert "look for what is not ordered by the clock or the seed" in text


def test_a_server_that_tells_no_rows_is_not_asked_for_them() -> None:
    text = told(foreign(), "corrupt", "wrong_text")
    assert "tells no rows: what was read is not known." in text
