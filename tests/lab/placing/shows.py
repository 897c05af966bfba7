"""Sessions of the probe as an arm that was driven leaves them: real plans, replies as they are due.

One rule: all of a history but the replies that are named is what a healthy server leaves.
"""

from __future__ import annotations

from typing import Any

from engine.events import EventLog
from engine.text.parser import parse
from engine.text.template import as_message
from engine.text.tokenizer import encode
from lab.placing.shown import Context, context
from lab.planned import announce
from lab.records import ArmHistory, Reply, SessionPlan
from lab.workloads import resolve
from lab.workloads.manuals import TOOLS

BLOCK = 16
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
LOAD = {"sessions": 2, "turns": 3, "entries": 3, "shared_entries": 1, "repeats": 0.5}


def plans(seed: int = 0) -> list[SessionPlan]:
    """Two sessions of three turns, one of which asks again."""
    return resolve("probe_sessions", "small", LOAD).plan(seed)


def prompt(plan: SessionPlan, turn: int) -> Context:
    """What stands before a turn's reply."""
    asked = ["".join(str(m["content"]) for m in it.prompt_messages) for it in plan.turns]
    return context(plan.system, asked[: turn + 1], [it.expected_text for it in plan.turns[:turn]])


def again(plan: SessionPlan) -> tuple[int, int]:
    """A turn that asks for a key again, and the first one that asked for it."""
    said = [turn.expected_text for turn in plan.turns]
    turn = next(at for at, text in enumerate(said) if text in said[:at])
    return turn, said.index(said[turn])


def history(*spoilt: tuple[int, int, str], cached: bool = True, **events: Any) -> ArmHistory:
    """An arm of these plans; ``spoilt`` are session, turn and what came instead."""
    made, log = plans(), EventLog(lambda: 0)
    announce(made, log)
    wrong = {(session, turn): text for session, turn, text in spoilt}
    replies = [_reply(plan, turn, wrong, cached) for plan in made for turn in range(3)]
    for kind, rows in events.items():
        for row in rows:
            log.emit(kind, **row)
    return ArmHistory(
        name="arm",
        settings={"block_size": BLOCK},
        sessions=len(made),
        replies=replies,
        counters={"cached_tokens": 1} if cached else {},
        events=[(at, kind, dict(fields)) for at, kind, fields in log.events],
        history_digest="",
        wall_s=1.0,
        virtual_s=1.0,
    )


def _reply(plan: SessionPlan, turn: int, wrong: dict[tuple[int, int], str], cached: bool) -> Reply:
    due = plan.turns[turn].expected_text
    said = wrong.get((plan.index, turn), due)
    message = as_message(parse(said, SCHEMAS))
    return Reply(
        session=plan.index,
        turn=turn,
        due=True,
        status="ok",
        finish_reason="tool_calls" if message.get("tool_calls") else "stop",
        raw_text=said,
        content=message.get("content"),
        reasoning=message.get("reasoning_content"),
        tool_calls=tuple(message.get("tool_calls", ())),
        prompt_tokens=len(prompt(plan, turn).ids),
        cached_tokens=_reached(plan, turn) if cached else 0,
        completion_tokens=len(encode(due)) + 1,
        sent_s=0.0,
        first_token_s=None,
        done_s=1.0,
        request_id=f"chatcmpl-{plan.index}{turn}",
        expected_text=due,
        expected_call=plan.turns[turn].expected_call,
    )


def _reached(plan: SessionPlan, turn: int) -> int:
    """The whole blocks that the turn before left in the cache; its end was never decoded."""
    if not turn:
        return 0
    written = len(prompt(plan, turn - 1).ids) + len(encode(plan.turns[turn - 1].expected_text))
    return written // BLOCK * BLOCK
