"""A wrong byte of a known reply is told with the part of the context that it should come from."""

from __future__ import annotations

from engine.probe.codes import SYMBOLS, symbol
from lab.detectors import Kind
from lab.placing.judge import Places, ids_of, located
from lab.records import Finding
from tests.lab.placing.shows import BLOCK, again, history, plans, prompt


def wrong_at(session: int, turn: int, index: int, instead: str = "#") -> tuple[int, int, str]:
    """A reply whose character ``index`` is another one."""
    due = plans()[session].turns[turn].expected_text
    return session, turn, due[:index] + instead + due[index + 1 :]


def first_symbol(text: str) -> int:
    """Where the second value begins."""
    return next(at for at, char in enumerate(text) if char in SYMBOLS and text[at - 1] == ">")


def said_of(*spoilt: tuple[int, int, str], cached: bool = True) -> str:
    session, turn, _ = spoilt[0]
    arm = history(*spoilt, cached=cached)
    [reply] = [it for it in arm.replies if (it.session, it.turn) == (session, turn)]
    lost = Places(arm).lost(reply)
    assert lost is not None
    return lost.said


def test_a_copy_of_the_manual_is_told_with_its_block_and_its_writer() -> None:
    plan = plans()[0]
    index = plan.turns[0].expected_text.index("invoke")
    said = said_of(wrong_at(0, 0, index))
    key = plan.turns[0].expected_text.split(" for ")[1][:12]
    assert f"of the entry of key {key}" in said
    assert "is a copy of prompt token" in said
    assert f"of {BLOCK} tokens" in said
    assert "written by prefill in turn 0" in said


def test_a_symbol_that_an_earlier_reply_made_is_of_decode() -> None:
    plan = plans()[0]
    turn, first = again(plan)
    due = plan.turns[turn].expected_text
    index = first_symbol(due)
    said = said_of(wrong_at(0, turn, index))
    assert "repeats what an earlier reply holds at prompt token" in said
    assert f"of reply {first} (" in said
    assert f"written by decode in turn {first}" in said


def test_a_symbol_of_this_turn_s_own_reference_says_that_the_earlier_one_was_not_found() -> None:
    plan = plans()[0]
    turn, _ = again(plan)
    ref = str(plan.turns[turn].prompt_messages[0]["content"]).split('"ref":"')[1][:8]
    due = plan.turns[turn].expected_text
    ids = [*prompt(plan, turn).ids, *ids_of(due)]
    start = len(prompt(plan, turn).ids)
    index = first_symbol(due)
    shift = len(ids_of(due[:index])) - 1
    anew = chr(symbol(ref, ids[: start + shift]))
    assert "it did not find" not in said_of(wrong_at(0, turn, index))
    assert said_of(wrong_at(0, turn, index, anew)).endswith("where that token is not found")


def test_the_first_bytes_read_the_prompt_s_last_tokens_too() -> None:
    assert "it also reads its last tokens, from" in said_of(wrong_at(0, 0, 8))
    assert "it also reads" not in said_of(wrong_at(0, 0, 60))


def test_without_a_count_of_cached_tokens_nobody_is_named_for_sure() -> None:
    plan = plans()[0]
    turn, first = again(plan)
    due = plan.turns[turn].expected_text
    index = first_symbol(due)
    said = said_of(wrong_at(0, turn, index), cached=False)
    assert f"written by decode in turn {first}, unless it was computed anew since" in said


def test_only_findings_of_wrong_texts_are_added_to() -> None:
    arm = history(wrong_at(0, 0, 60), (1, 0, ""))
    found = [
        Finding(0, 0, "wrong_text", "fail", "character 60", Kind.CORRUPT.value),
        Finding(0, 0, "tag_salad", "fail", "salad", Kind.CORRUPT.value),
        Finding(1, 0, "wrong_text", "unknown", "?", Kind.CORRUPT.value),
    ]
    first, *others = located(arm, found)
    assert first.detail.startswith("character 60; token ")
    assert others == found[1:]


def test_an_arm_that_does_not_tell_its_texts_has_no_places() -> None:
    arm = history(wrong_at(0, 0, 60))
    arm.events = [it for it in arm.events if it[1] != "texts_planned"]
    found = [Finding(0, 0, "wrong_text", "fail", "character 60", Kind.CORRUPT.value)]
    assert located(arm, found) == found
