"""Sessions of the probe: their texts are ones that it is exact on, and their replies known."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.probe.codes import SYMBOLS
from engine.probe.replies import differs
from engine.probe.text import flaws
from engine.text.parser import parse
from engine.text.template import render
from lab.records import SessionPlan
from lab.workloads import resolve

REF = re.compile(r'"ref":"(\w+)","key":"(\w+)"}$')


def plan(seed: int = 0, **given: object) -> list[SessionPlan]:
    return resolve("probe_sessions", "small", {"sessions": 3, **given}).plan(seed)


def conversation(session: SessionPlan) -> list[int]:
    """Token ids of the whole of it, with the replies that are due."""
    messages = [{"role": "system", "content": session.system}]
    for turn in session.turns:
        messages += [*turn.prompt_messages, {"role": "assistant", "content": turn.expected_text}]
    return render(messages)[:-1]


def asked(session: SessionPlan) -> list[tuple[str, str]]:
    """Reference and key of each turn."""
    lines = [turn.prompt_messages[0]["content"] for turn in session.turns]
    return [found.groups() for line in lines if (found := REF.search(line))]


@st.composite
def loads(draw: st.DrawFn) -> dict[str, object]:
    entries, repeats = draw(st.integers(1, 8)), draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    turns = draw(st.integers(1, entries))
    return {
        "entries": entries,
        "shared_entries": draw(st.integers(0, entries)),
        "turns": turns,
        "repeats": repeats,
        "groups": draw(st.integers(1, 3)),
    }


@settings(max_examples=25, deadline=None)
@given(load=loads(), seed=st.integers(0, 10_000))
def test_the_probe_is_exact_on_every_conversation(load: dict[str, object], seed: int) -> None:
    for session in plan(seed, **load):
        assert flaws(conversation(session)) == []


@settings(max_examples=25, deadline=None)
@given(load=loads(), seed=st.integers(0, 10_000))
def test_a_conversation_is_no_longer_than_said(load: dict[str, object], seed: int) -> None:
    model = resolve("probe_sessions", "small", {"sessions": 3, **load})
    longest = max(len(conversation(session)) for session in model.plan(seed))
    assert longest <= model.longest_context()


def test_a_share_of_the_turns_ask_again_with_a_reference_that_would_say_otherwise() -> None:
    for session in plan(turns=6, entries=6, repeats=0.5, sessions=8):
        first: dict[str, tuple[str, str]] = {}
        again = 0
        for (ref, key), turn in zip(asked(session), session.turns, strict=True):
            if key in first:
                again += 1
                assert differs(ref, [first[key][0]]) and turn.expected_text == first[key][1]
            first.setdefault(key, (ref, turn.expected_text))
        assert again == 3


def test_without_repeats_every_turn_asks_for_another_entry() -> None:
    for session in plan(turns=6, entries=6, repeats=0.0):
        assert len({key for _, key in asked(session)}) == 6


def test_an_entry_is_answered_by_the_call_that_the_reply_spells() -> None:
    for session in plan():
        tools = {it["function"]["name"]: it["function"]["parameters"] for it in session.tools}
        for turn in session.turns:
            [call] = parse(turn.expected_text, tools).calls
            assert call.name == turn.expected_call["name"]
            assert set(list(turn.expected_call["arguments"].values())[1]) <= set(SYMBOLS)


def test_sessions_of_a_group_share_the_beginning_of_their_manual_and_no_more() -> None:
    a, b, c = plan(groups=2, entries=4, shared_entries=2)
    assert a.group == c.group != b.group
    common = next(at for at, (x, y) in enumerate(zip(a.system, c.system, strict=False)) if x != y)
    assert a.system[:common].count('"key"') in (2, 3)  # whose key begins alike, perhaps
    assert not [secret for secret in a.secrets if secret in c.system]


def test_plans_depend_on_the_seed_alone_and_not_on_how_many_sessions_there_are() -> None:
    assert plan(7, sessions=9)[:3] == plan(7, sessions=3) != plan(8, sessions=3)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"turns": 9, "entries": 4}, "more entries, or more repeats"),
        ({"entries": 2, "shared_entries": 3}, "shared_entries: 3 of 2"),
    ],
)
def test_too_few_entries_are_one_line(given: dict[str, int], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        plan(**given)


def test_the_bundled_model_is_not_asked() -> None:
    assert "probe" in resolve("probe_sessions", "small", {}).beyond_bundled()
