"""The reference load: who shares, what is asked for, when it arrives; and how a load is named."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.config import PAGE_TOKENS
from engine.scribe import manual
from engine.text.tokenizer import ASSISTANT, decode
from lab.errors import UserError
from lab.workloads import PRESETS, resolve
from tests.lab.workloads import plans
from tests.lab.workloads.plans import common, prompt

if TYPE_CHECKING:
    from lab.records import SessionPlan

EVERY_PRESET = pytest.mark.parametrize("preset", PRESETS)


def plan(preset: str = "small", seed: int = 0, **given: object) -> list[SessionPlan]:
    return plans.plan("tool_sessions", preset, seed, **given)


def test_more_sessions_change_no_session_that_was_there() -> None:
    assert plan(sessions=12)[:5] == plan(sessions=12)[:5]
    few, many = plan(sessions=4, groups=2), plan(sessions=9, groups=2)
    assert few == many[:4]


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
def test_sessions_of_a_group_share_whole_pages_of_their_prompt_and_others_fewer(
    preset: str,
) -> None:
    sessions = plan(preset, sessions=4, groups=2)
    shared = [common(prompt(sessions[0]), prompt(other)) for other in sessions]
    assert shared[2] >= 2 * PAGE_TOKENS
    assert max(shared[1], shared[3]) < 2 * PAGE_TOKENS


def test_contexts_are_as_long_as_the_presets_say() -> None:
    assert 5500 <= len(prompt(plan("reference", sessions=1)[0])) <= 6500
    assert 1800 <= len(prompt(plan("small", sessions=1)[0])) <= 2600


def test_unknown_kinds_presets_keys_and_impossible_numbers_are_refused() -> None:
    with pytest.raises(UserError, match="accepted: a_flood_a, determinism, prefix_lengths"):
        resolve("chat", "small", {})
    with pytest.raises(UserError, match="accepted: reference, small, small_dirty, burst"):
        resolve("tool_sessions", "tiny", {})
    for given_ in ({"entries": 3}, {"sessions": 0}, {"turns": 9}, {"abort_rate": 2.0}):
        with pytest.raises(ValidationError):
            resolve("tool_sessions", "small", given_)


def test_a_kind_takes_what_it_has_a_parameter_for_from_a_preset() -> None:
    assert "groups" in PRESETS["small"].workload
    load = resolve("twins", "small", {})
    assert (load.sessions, load.max_tokens) == (8, 300)
    with pytest.raises(ValidationError):
        resolve("twins", "small", {"groups": 2})


@settings(max_examples=20, deadline=None)
@given(rate=st.floats(0.01, 100.0), seed=st.integers(0, 2**32))
def test_arrivals_follow_each_other_at_the_rate(rate: float, seed: int) -> None:
    starts = [s.start_s for s in plan(sessions=200, seed=seed, arrival_rate=rate)]
    assert starts == sorted(starts)
    assert 100 < starts[-1] * rate < 350


def test_without_a_rate_all_sessions_arrive_at_once() -> None:
    assert {s.start_s for s in plan(sessions=5)} == {0.0}
