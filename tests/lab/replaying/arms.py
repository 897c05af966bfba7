"""Arms and stored runs for the tests of replays: made up, or small and real."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lab.records import ArmHistory, Finding
from lab.running import judge_run
from lab.scenario.loader import parse_scenario
from lab.store import Results, RunStatus
from lab.trial import run_arm
from lab.versions import versions
from tests.lab.samples import history

HALVED = """
name: halved
build: [index_k_under_allocated]
workload: {kind: round_robin, preset: small, sessions: 2, think_s: 0.5}
engine: {index_k: bf16, concurrency: 2}
arms: [{name: bad}, {name: good, index_k: fp8, sessions: 1}]
"""
NAME = "padded_row_wrote_owned_slot"


def violation(number: int, **fields: Any) -> tuple[int, str, dict[str, Any]]:
    """The event of a broken invariant at ``number`` microseconds."""
    return number * 1000, "violation", {"name": NAME, "n": 1, **fields}


def said(session: int, turn: int) -> tuple[int, str, dict[str, Any]]:
    """The event of a reply."""
    return 9_000_000, "reply", {"session": session, "turn": turn, "status": "ok"}


def arm(name: str, *events: tuple[int, str, dict[str, Any]], sessions: int = 3) -> ArmHistory:
    """An arm in which turn t of session s was request 10 s + t + 1."""
    made = history(name, sessions=sessions, turns=2)
    replies = [
        replace(it, request_id=f"chatcmpl-{10 * it.session + it.turn + 1}") for it in made.replies
    ]
    told = [said(it.session, it.turn) for it in made.replies]
    return replace(made, replies=replies, events=[*events, *told])


def wrong(session: int, turn: int) -> Finding:
    """A detector's word that a reply is corrupt."""
    return Finding(session, turn, "wrong_text", "fail", "another text", "corrupt")


def stored(results: Results, text: str = HALVED) -> str:
    """The id of a small run that was driven, stored and judged; no figure of it is drawn."""
    scenario = parse_scenario(text, "halved.yaml")
    run = results.begin_run(scenario.name, scenario.source, scenario.seed, versions())
    for one in scenario.arms:
        results.save_arm(run, run_arm(scenario, one, scenario.seed))
    results.finish_run(run, RunStatus.DONE)
    judge_run(results, run)
    return run
