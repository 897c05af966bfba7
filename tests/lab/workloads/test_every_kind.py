"""What holds for every load: the model can follow it, the seed decides it, secrets are secret."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from engine.config import PAGE_TOKENS, ModelConfig
from engine.events import EventLog
from engine.scribe import manual
from engine.text.tokenizer import ASSISTANT, EOS, decode, encode
from lab.planned import announce, context_of
from lab.workloads import PRESETS, WORKLOADS
from tests.lab.workloads.plans import STRANGERS, load, plan, prompt

KINDS = [kind for kind in WORKLOADS.all() if kind not in STRANGERS]
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
EVERY_PRESET = pytest.mark.parametrize("preset", PRESETS)


def test_the_kinds_are_these() -> None:
    named = "a_flood_a determinism prefix_lengths round_robin same_step tool_sessions twins"
    assert sorted(KINDS) == named.split()


@EVERY_KIND
@EVERY_PRESET
def test_a_plan_depends_on_the_seed_alone(kind: str, preset: str) -> None:
    assert plan(kind, preset, sessions=5) == plan(kind, preset, sessions=5)
    assert plan(kind, preset, sessions=5) != plan(kind, preset, sessions=5, seed=1)


@EVERY_KIND
@pytest.mark.parametrize("sessions", [1, 2, 3, 7, 12])
def test_sessions_are_as_many_as_asked_for_and_more_change_none_of_them(
    kind: str, sessions: int
) -> None:
    found = plan(kind, sessions=sessions)
    assert [session.index for session in found] == list(range(sessions))
    assert found == plan(kind, sessions=16)[:sessions]


@EVERY_KIND
@EVERY_PRESET
def test_entries_are_as_far_apart_as_the_model_needs(kind: str, preset: str) -> None:
    for session in plan(kind, preset, sessions=6):
        ids = encode(session.system)
        ends = [at for at, token in enumerate(ids) if token == EOS]
        assert all(b - a >= manual.ENTRY_STRIDE for a, b in pairwise(ends))
        assert len(ids) - ends[-1] > manual.TAIL_TEXT
        assert ids.count(ASSISTANT) == len(ends)


@EVERY_KIND
@EVERY_PRESET
def test_no_two_words_of_a_manual_share_a_trigram(kind: str, preset: str) -> None:
    for session in plan(kind, preset, sessions=12):
        words = re.findall(r'"key":"(\w+)"|string="true">(\w+)<', session.system)
        parts = [part for pair in words for part in set(manual.trigrams("".join(pair)))]
        assert len(parts) == len(set(parts)) > 0


def test_a_value_that_began_like_another_s_middle_once_led_the_model_there() -> None:
    given = {"groups": 8, "shared_entries": 1, "private_entries": 10, "turns": 3}
    [first] = plan("tool_sessions", sessions=4, **given)[3].turns[:1]
    assert first.expected_call["arguments"]["asset"] != "DQWD0G6G3TMBN"  # beside NMDQWSYBGXB2


@EVERY_KIND
@EVERY_PRESET
def test_each_turn_asks_once_for_an_entry_of_the_sessions_own_manual(
    kind: str, preset: str
) -> None:
    for session in plan(kind, preset, sessions=6):
        texts = [turn.expected_text for turn in session.turns]
        assert len(set(texts)) == len(texts)
        asked = session.turns[0].prompt_messages[0]["content"]
        for turn in session.turns:
            key = turn.expected_text.split(" for ")[1][: manual.KEY_LENGTH]
            assert asked.endswith(f'"key":"{key}"}}')
            line = f'{{"key":"{key}"}}' + decode([ASSISTANT]) + turn.expected_text
            assert session.system.count(line) == 1
            asked = turn.tool_result


@EVERY_KIND
def test_a_secret_occurs_in_no_other_session(kind: str) -> None:
    sessions = plan(kind, sessions=8)
    for session in sessions:
        assert len(set(session.secrets)) == len(session.secrets)
        for other in sessions:
            if other is not session:
                assert not any(secret in other.system for secret in session.secrets)


@EVERY_KIND
def test_a_word_belongs_to_all_sessions_whose_manual_has_it_and_to_no_other(kind: str) -> None:
    sessions = plan(kind, sessions=8)
    log = EventLog(lambda: 0)
    announce(sessions, log)
    owners = context_of(log.events).owners
    for word, owning in owners.items():
        having = tuple(s.index for s in sessions if word in s.system)
        assert having in ((), owning)  # a tool's reference is in no manual
    for session in sessions:
        for turn in session.turns:
            for value in turn.expected_call["arguments"].values():
                assert session.index in owners[value]


@EVERY_KIND
@EVERY_PRESET
def test_the_longest_conversation_is_no_longer_than_said_and_fits(kind: str, preset: str) -> None:
    model = load(kind, preset, sessions=12)
    for session in model.plan(0):
        turns = len(session.turns) * (model.max_tokens + 70)
        assert len(prompt(session)) + turns <= model.longest_context() + 70
    pages = PRESETS[preset].engine["pool_pages"]
    assert model.longest_context() <= min(ModelConfig().max_context, pages * PAGE_TOKENS)


@EVERY_KIND
def test_stages_are_one_a_turn_and_never_fall(kind: str) -> None:
    for session in plan(kind, sessions=9):
        assert len(session.think_s) == len(session.turns)
        if session.stages is not None:
            assert len(session.stages.of_turn) == len(session.turns)
            assert list(session.stages.of_turn) == sorted(session.stages.of_turn)


@EVERY_KIND
def test_sessions_arrive_in_the_order_of_their_index(kind: str) -> None:
    starts = [s.start_s for s in plan(kind, sessions=9, arrival_rate=2.0)]
    assert starts == sorted(starts)
    assert starts[-1] > 0.0
    assert {s.start_s for s in plan(kind, sessions=9)} == {0.0}
