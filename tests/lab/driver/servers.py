"""Small servers that answer as a test tells them to; no engine behind them.

One rule: a server is a function from the request's JSON to a Starlette response.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

import httpx
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from engine import clock
from engine.events import EventLog
from engine.text.parser import parse
from engine.text.template import as_message
from engine.text.tokenizer import EOS, encode
from lab.driver import InProcess, Load, Recorder, drive
from lab.workloads import resolve
from lab.workloads.manuals import TOOLS

if TYPE_CHECKING:
    from starlette.requests import Request

    from lab.records import Reply, SessionPlan

Body = dict[str, Any]
Answer = Callable[[Body], Response]
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}


def plans(sessions: int = 2, turns: int = 2, **given: Any) -> list[SessionPlan]:
    """A small load."""
    asked = {"sessions": sessions, "turns": turns, **given}
    return resolve("tool_sessions", "small", asked).plan(seed=0)


def run(
    answer: Answer, planned: Sequence[SessionPlan], load: Load | None = None
) -> tuple[list[Reply], EventLog]:
    """Drive the plans against a server under the virtual clock."""
    log = EventLog(clock.now_ns)
    recorder = Recorder(planned, events=log)

    async def chat(request: Request) -> Response:
        return answer(await request.json())

    async def main() -> None:
        app = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])
        transport = InProcess(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            await drive(http, load or Load(), recorder)

    clock.run(main())
    return recorder.replies(), log


def model(planned: Sequence[SessionPlan]) -> Callable[[Body], str]:
    """What a healthy model says: the expected text of the turn whose key was asked for last."""
    known = {
        turn.expected_text.split(" for ")[1][:12]: turn.expected_text
        for plan in planned
        for turn in plan.turns
    }

    def say(body: Body) -> str:
        asked = body["messages"][-1]["content"]
        return known[json.loads(asked[asked.index("{") :])["key"]]

    return say


def whole(text: str) -> Response:
    """A chat completion that says ``text``."""
    message = as_message(parse(text, SCHEMAS))
    choice = {"index": 0, "message": message, "finish_reason": _reason(message)}
    choice["token_ids"] = [*encode(text), EOS]
    return JSONResponse({"id": "chatcmpl-1", "choices": [choice], "usage": _usage(text)})


def stream(text: str, step_s: float = 0.0, *, cut: int | None = None) -> Response:
    """The same in deltas, one part an event; ``cut`` events are all that is sent."""
    message = as_message(parse(text, SCHEMAS))
    calls = [{"index": i} | call for i, call in enumerate(message.pop("tool_calls", []))]
    deltas = [{key: value} for key, value in message.items() if value is not None]
    deltas += [{"tool_calls": [call]} for call in calls]
    end = {"delta": {}, "finish_reason": _reason({"tool_calls": calls})}
    end["token_ids"] = [*encode(text), EOS]
    events = [{"id": "chatcmpl-1", "choices": [{"delta": delta}]} for delta in deltas]
    events += [{"id": "chatcmpl-1", "choices": [end]}, {"choices": [], "usage": _usage(text)}]
    lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]

    async def body() -> AsyncIterator[str]:
        for line in lines[:cut]:
            await clock.sleep(step_s)
            yield line

    return StreamingResponse(body(), media_type="text/event-stream")


def _reason(message: Body) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _usage(text: str) -> Body:
    cached = {"cached_tokens": 256}
    return {"prompt_tokens": 9, "completion_tokens": len(text), "prompt_tokens_details": cached}
