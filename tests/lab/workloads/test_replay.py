"""Traces replayed: times, lengths and shared prefixes are the trace's, in words and in manuals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.config import ModelConfig
from engine.events import EventLog
from engine.scribe import manual
from lab.driver import Load
from lab.errors import ScenarioError, UserError
from lab.judging import judge_arm
from lab.planned import announce, context_of
from lab.records import SessionPlan
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm
from lab.workloads import resolve
from lab.workloads.mooncake import read_trace
from lab.workloads.replay import INTRODUCTION
from tests.lab.driver.servers import run
from tests.lab.workloads.follower import answering, follower
from tests.lab.workloads.plans import common, prompt

PUBLIC = Path("../shared/data/mooncake/mooncake_conversation_trace.jsonl")
BLOCKS = ([0, 1, 2], [0, 1, 3, 4], [5], [0, 1, 2, 6, 7, 8, 9], [0, 10])


def trace(folder: Path, tail: str = "") -> str:
    """Five requests, 1.5 s apart, whose last block is half full."""
    path = folder / "trace.jsonl"
    lines = [
        {
            "timestamp": 1500 * at,
            "input_length": 512 * len(blocks) - 256,
            "output_length": 10 * at + 2,
            "hash_ids": blocks,
        }
        for at, blocks in enumerate(BLOCKS)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + tail)
    return str(path)


def plan(folder: Path, seed: int = 0, sessions: int = 5, **given: Any) -> list[SessionPlan]:
    """The sessions of the made-up trace."""
    asked = {"data": trace(folder), "sessions": sessions, **given}
    return resolve("replay", "reference", asked).plan(seed)


@pytest.mark.parametrize("form", ["natural", "manual"])
def test_a_plan_depends_on_the_seed_alone_and_more_requests_change_none(
    tmp_path: Path, form: str
) -> None:
    found = plan(tmp_path, form=form)
    assert found == plan(tmp_path, form=form)
    assert found != plan(tmp_path, seed=1, form=form)
    assert found[:3] == plan(tmp_path, sessions=3, form=form)
    assert [it.index for it in found] == [0, 1, 2, 3, 4]


def test_requests_come_as_they_came_divided_by_the_speed(tmp_path: Path) -> None:
    assert [it.start_s for it in plan(tmp_path)] == [0.0, 1.5, 3.0, 4.5, 6.0]
    assert [it.start_s for it in plan(tmp_path, speed=3.0)] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert [it.start_s for it in plan(tmp_path, sessions=2, first=2)] == [0.0, 1.5]
    drawn = [it.start_s for it in plan(tmp_path, arrival_rate=100.0)]
    assert drawn == sorted(drawn) and drawn[-1] < 1.0


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_a_prompt_in_words_is_as_long_as_the_trace_s_scaled(tmp_path: Path, scale: float) -> None:
    for session, blocks in zip(plan(tmp_path, tokens_scale=scale), BLOCKS, strict=True):
        asked = session.turns[0].prompt_messages[0]["content"]
        words = len(session.system.split()) + len(asked.split())
        assert abs(words - scale * (512 * len(blocks) - 256)) < 60


def test_longer_inputs_are_cut_and_keep_their_start(tmp_path: Path) -> None:
    whole, cut = plan(tmp_path)[3], plan(tmp_path, most_tokens=700)[3]
    assert whole.system.startswith(cut.system)
    assert len(cut.system.split()) < 750 < len(whole.system.split())


def test_equal_blocks_are_equal_text_and_prompts_part_where_their_blocks_do(
    tmp_path: Path,
) -> None:
    first, second, other, longer, _ = (it.system.split() for it in plan(tmp_path))
    head = len(INTRODUCTION.split())
    assert agree(first, second) == head + 2 * 512
    assert agree(first, other) == head
    assert agree(first, longer) == len(first)


def agree(a: list[str], b: list[str]) -> int:
    """Words on which two texts agree."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))


def test_the_due_call_is_spelled_out_and_as_long_as_the_trace_s_reply(tmp_path: Path) -> None:
    for at, session in enumerate(plan(tmp_path)):
        [turn] = session.turns
        call = turn.expected_call
        assert turn.expected_text == ""
        assert turn.prompt_messages[0]["content"].endswith(json.dumps(call["arguments"]))
        assert len(call["arguments"]["words"].split()) == 10 * at + 2
    [session] = plan(tmp_path, sessions=1, first=4, max_tokens=150)
    assert len(session.turns[0].expected_call["arguments"]["words"].split()) == 150 // 2 - 64


@pytest.mark.parametrize("form", ["natural", "manual"])
def test_a_word_belongs_to_the_requests_that_were_given_it_and_to_no_other(
    tmp_path: Path, form: str
) -> None:
    sessions = plan(tmp_path, form=form)
    log = EventLog(lambda: 0)
    announce(sessions, log)
    owners = context_of(log.events).owners
    for word, owning in owners.items():
        having = tuple(it.index for it in sessions if word in it.system)
        assert having in ((), owning)
    for it in sessions:
        for value in it.turns[0].expected_call["arguments"].values():
            assert " " in value or it.index in owners[value]
    assert max(len(owning) for owning in owners.values()) == 4  # of block 0


def test_manuals_share_whole_entries_as_far_as_their_blocks_are_equal(tmp_path: Path) -> None:
    first, second, other, longer, _ = plan(tmp_path, form="manual")
    entries = [it.system.count("\n## ") for it in (first, second, other, longer)]
    assert entries == [6, 7, 2, 12]  # 512 / 300 a block, and one of its own
    near, far = common(prompt(first), prompt(second)), common(prompt(first), prompt(other))
    assert near > 3 * manual.ENTRY_STRIDE and far < 2 * manual.ENTRY_STRIDE
    assert common(prompt(first), prompt(longer)) > 5 * manual.ENTRY_STRIDE


def test_a_manual_holds_no_more_than_the_context_does(tmp_path: Path) -> None:
    given = {"data": trace(tmp_path), "sessions": 5, "form": "manual", "tokens_scale": 50}
    load = resolve("replay", "reference", given)
    longest = max(len(prompt(it)) for it in load.plan(0)) + 70 + load.max_tokens
    assert longest <= load.longest_context() <= ModelConfig().max_context


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        ("", "5 requests asked for|6 requests asked for; .* holds 5 from number 0 on"),
        ("x\n", r"trace\.jsonl:6: no request; accepted: timestamp, input_length"),
        ('{"timestamp": 1}\n', r"trace\.jsonl:6: no request"),
        ('{"timestamp":1,"input_length":9,"output_length":1,"hash_ids":[]}\n', "of no tokens"),
    ],
)
def test_a_trace_that_is_short_or_broken_is_one_line(tmp_path: Path, tail: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as error:
        read_trace(trace(tmp_path, tail), 0, 6)
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match="no file nowhere; accepted: a trace"):
        read_trace("nowhere", 0, 1)


def test_a_model_that_makes_the_due_calls_is_clean_and_a_foreign_page_is_seen(
    tmp_path: Path,
) -> None:
    sessions = plan(tmp_path, tokens_scale=0.1)
    answer = follower(sessions)
    alien = sessions[2].secrets[0]
    log = EventLog(lambda: 0)
    announce(sessions, log)
    context = context_of(log.events)
    assert context.owners[alien] == (2,)
    replies, _ = run(lambda body: answering(answer(body)), sessions, Load(stream=False))
    assert {reply.status for reply in replies} == {"ok"}
    assert {reply.tool_calls[0]["function"]["name"] for reply in replies} == {"hand_over"}


def test_the_bundled_engine_replays_a_trace_by_a_manual(tmp_path: Path) -> None:
    load = f"{{kind: replay, preset: small, sessions: 5, tokens_scale: 0.5, data: {trace(tmp_path)}"
    text = f"name: x\nworkload: {load}, form: manual}}\narms: [{{name: a}}]\n"
    scenario = parse_scenario(text, "x.yaml")
    history = run_arm(scenario, scenario.arms[0], 0)
    assert judge_arm(history)[0].verdict == "clean"
    assert [reply.status for reply in history.replies] == ["ok"] * 5
    assert history.counters["prefix_hits"] > 0
    with pytest.raises(ScenarioError, match="only follows manuals: accepted: form: manual"):
        parse_scenario(text.replace(", form: manual", ""), "x.yaml")


def test_the_public_trace_keeps_its_shared_prefixes() -> None:
    if not PUBLIC.is_file():
        pytest.skip(f"needs {PUBLIC}: Mooncake's conversation trace")
    given = {"data": str(PUBLIC), "sessions": 40, "tokens_scale": 0.2}
    sessions = resolve("replay", "reference", given).plan(0)
    requests = read_trace(str(PUBLIC), 0, 40)
    assert [it.start_s for it in sessions] == [it.at_s for it in requests]
    assert len({it.system[:400] for it in sessions}) == 1  # the first block is everybody's
    assert len({it.system for it in sessions}) == 40
