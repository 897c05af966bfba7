"""The plan of a load: what the model needs of its text, what is secret, what the seed decides."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.config import PAGE_TOKENS, ModelConfig
from engine.scribe import manual
from engine.text.template import render
from engine.text.tokenizer import ASSISTANT, EOS, decode, encode
from lab.errors import UserError
from lab.workloads import PRESETS, WORKLOADS, resolve

if TYPE_CHECKING:
    from lab.records import SessionPlan

EVERY_PRESET = pytest.mark.parametrize("preset", PRESETS)


def plan(preset: str = "small", seed: int = 0, **given: object) -> list[SessionPlan]:
    return resolve("tool_sessions", preset, given).plan(seed)


def prompt(session: SessionPlan) -> list[int]:
    messages = [{"role": "system", "content": session.system}, *session.turns[0].prompt_messages]
    return render(messages, session.tools)


@EVERY_PRESET
def test_a_plan_depends_on_the_seed_alone(preset: str) -> None:
    assert plan(preset, sessions=3) == plan(preset, sessions=3)
    assert plan(preset, sessions=3) != plan(preset, sessions=3, seed=1)


def test_more_sessions_change_no_session_that_was_there() -> None:
    assert plan(sessions=12)[:5] == plan(sessions=12)[:5]
    few, many = plan(sessions=4, groups=2), plan(sessions=9, groups=2)
    assert few == many[:4]


@EVERY_PRESET
def test_entries_are_as_far_apart_as_the_model_needs(preset: str) -> None:
    for session in plan(preset, sessions=4):
        ids = encode(session.system)
        ends = [at for at, token in enumerate(ids) if token == EOS]
        assert all(b - a >= manual.ENTRY_STRIDE for a, b in pairwise(ends))
        assert len(ids) - ends[-1] > manual.TAIL_TEXT
        assert ids.count(ASSISTANT) == len(ends)


@EVERY_PRESET
def test_each_turn_asks_once_for_an_entry_of_the_sessions_own_manual(preset: str) -> None:
    for session in plan(preset, sessions=4):
        texts = [turn.expected_text for turn in session.turns]
        assert len(set(texts)) == len(texts)
        for turn in session.turns:
            assert session.system.count(turn.expected_text) == 1
            for value in turn.expected_call["arguments"].values():
                assert value in turn.expected_text


def test_the_tools_answer_names_the_next_key_right_before_the_reply() -> None:
    for session in plan("reference", sessions=4):
        for turn, following in pairwise(session.turns):
            key = following.expected_text.split(" for ")[1][: manual.KEY_LENGTH]
            assert turn.tool_result.endswith(f'"key":"{key}"}}')
            entry = f'{{"key":"{key}"}}' + decode([ASSISTANT]) + following.expected_text
            assert entry in session.system


def test_turns_alternate_between_the_private_and_the_shared_part() -> None:
    for session in plan("reference", sessions=6):
        own = [any(s in turn.expected_text for s in session.secrets) for turn in session.turns]
        assert own == [True, False, True, False]


@EVERY_PRESET
def test_a_secret_occurs_in_no_other_session(preset: str) -> None:
    sessions = plan(preset, sessions=8)
    for session in sessions:
        assert len(set(session.secrets)) == len(session.secrets)
        for other in sessions:
            if other is not session:
                assert not any(secret in other.system for secret in session.secrets)


@EVERY_PRESET
def test_sessions_of_a_group_share_whole_pages_of_their_prompt_and_others_fewer(
    preset: str,
) -> None:
    sessions = plan(preset, sessions=4, groups=2)
    shared = [_common(prompt(sessions[0]), prompt(other)) for other in sessions]
    assert shared[2] >= 3 * PAGE_TOKENS
    assert max(shared[1], shared[3]) < 2 * PAGE_TOKENS


@EVERY_PRESET
def test_the_longest_conversation_is_no_longer_than_said_and_fits(preset: str) -> None:
    load = resolve("tool_sessions", preset, {"sessions": 6})
    turns = load.turns * (load.max_tokens + 70)
    assert max(len(prompt(s)) for s in load.plan(0)) + turns <= load.longest_context() + 70
    pages = PRESETS[preset].engine["pool_pages"]
    assert load.longest_context() <= min(ModelConfig().max_context, pages * PAGE_TOKENS)


def test_contexts_are_as_long_as_the_presets_say() -> None:
    assert 5500 <= len(prompt(plan("reference", sessions=1)[0])) <= 6500
    assert 1800 <= len(prompt(plan("small", sessions=1)[0])) <= 2600


def test_unknown_kinds_presets_keys_and_impossible_numbers_are_refused() -> None:
    with pytest.raises(UserError, match="accepted: tool_sessions"):
        resolve("chat", "small", {})
    with pytest.raises(UserError, match="accepted: reference, small"):
        resolve("tool_sessions", "tiny", {})
    for given_ in ({"entries": 3}, {"sessions": 0}, {"turns": 9}, {"abort_rate": 2.0}):
        with pytest.raises(ValidationError):
            resolve("tool_sessions", "small", given_)
    assert list(WORKLOADS.all()) == ["tool_sessions"]


@settings(max_examples=20, deadline=None)
@given(rate=st.floats(0.01, 100.0), seed=st.integers(0, 2**32))
def test_arrivals_follow_each_other_at_the_rate(rate: float, seed: int) -> None:
    starts = [s.start_s for s in plan(sessions=200, seed=seed, arrival_rate=rate)]
    assert starts == sorted(starts)
    assert 100 < starts[-1] * rate < 350


def test_without_a_rate_all_sessions_arrive_at_once() -> None:
    assert {s.start_s for s in plan(sessions=5)} == {0.0}


def _common(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
