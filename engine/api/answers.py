"""A reply as OpenAI spells it: one ``chat.completion``, or a stream of chunks ending in [DONE]."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.api.errors import failure_body
from engine.text.parser import Delta, collect
from engine.text.template import as_message, as_tool_call

if TYPE_CHECKING:
    from engine.api.reply import Reply
    from engine.api.request import Job


@dataclass(frozen=True)
class Head:
    """What every object of one reply repeats. ``created`` in seconds."""

    number: int
    created: int
    model: str

    @property
    def call_id(self) -> str:
        """Calls of this reply are ``<call_id>_0``, ``<call_id>_1``, ..."""
        return f"call_{self.number}"

    def fields(self, kind: str) -> dict[str, Any]:
        """The members that name an object of ``kind``."""
        name = f"chatcmpl-{self.number}"
        return {"id": name, "object": kind, "created": self.created, "model": self.model}


async def completion(reply: Reply, head: Head, job: Job) -> dict[str, Any]:
    """The whole reply as one object."""
    pieces = [piece async for deltas in reply.deltas() for piece in deltas]
    message = as_message(collect(pieces), head.call_id)
    choice = {"index": 0, "message": message, "logprobs": None} | _end(reply, job)
    return head.fields("chat.completion") | {"choices": [choice], "usage": reply.usage}


async def chunks(reply: Reply, head: Head, job: Job) -> AsyncGenerator[bytes, None]:
    """The reply as server-sent events. A fault of the engine ends it with an error event."""
    opening = json.dumps(head.fields("chat.completion.chunk"), separators=(",", ":"))[:-1]
    tail = ',"usage":null}' if job.include_usage else "}"
    first: dict[str, Any] = {"role": "assistant"}
    try:
        async with aclosing(reply.deltas()) as parts:
            async for deltas in parts:
                choice = {"index": 0, "delta": first | _delta(deltas, head), "finish_reason": None}
                yield _event(opening, [choice], tail)
                first = {}
    except Exception as error:  # whatever it is: a client must not take silence for the end
        yield b"data: %s\n\n" % json.dumps(failure_body(error)).encode()
        return
    yield _event(opening, [{"index": 0, "delta": first} | _end(reply, job)], tail)
    if job.include_usage:
        yield _event(opening, [], f',"usage":{json.dumps(reply.usage)}}}')
    yield b"data: [DONE]\n\n"


def _event(opening: str, choices: list[dict[str, Any]], tail: str) -> bytes:
    said = json.dumps(choices, ensure_ascii=False, separators=(",", ":"))
    return f'data: {opening},"choices":{said}{tail}\n\n'.encode()


def _end(reply: Reply, job: Job) -> dict[str, Any]:
    end: dict[str, Any] = {"finish_reason": reply.finish_reason}
    return end | {"token_ids": reply.token_ids} if job.return_token_ids else end


def _delta(pieces: Iterable[Delta], head: Head) -> dict[str, Any]:
    """Pieces that came together, as one delta; a call comes whole."""
    whole = collect(pieces)
    delta: dict[str, Any] = {}
    if whole.reasoning is not None:
        delta["reasoning_content"] = whole.reasoning
    if whole.content is not None:
        delta["content"] = whole.content
    if whole.calls:
        delta["tool_calls"] = [
            {"index": index} | as_tool_call(call, f"{head.call_id}_{index}")
            for index, call in enumerate(whole.calls)
        ]
    return delta
