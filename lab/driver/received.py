"""One reply as the client received it, whole or in deltas.

One rule: keep what came, repair nothing; what is not a reply at all raises ``BrokenStream``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from lab.driver.failures import MALFORMED
from lab.driver.refusal import refusal
from lab.driver.sse import BrokenStream

PARTS = ("content", "reasoning_content", "reasoning", "tool_calls")

SHAPE = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # of a body of another one
MOST_TOKENS = 2**31 - 1  # what a column of the results database holds


@dataclass
class Received:
    """What has arrived of one reply. Times in seconds of the loop's clock."""

    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)  # OpenAI's shape
    finish_reason: str | None = None
    token_ids: list[int] | None = None
    usage: dict[str, Any] = field(default_factory=dict)  # of it what can be read
    request_id: str | None = None
    first_token_s: float | None = None
    token_times: list[float] = field(default_factory=list)  # of each part of a stream
    cached_tiers: dict[str, int] = field(default_factory=dict)
    reasoning_key: str = "reasoning_content"  # what this server calls it

    @property
    def reports_cache(self) -> bool:
        """Whether the usage says how much of the prompt was cached."""
        return (self.usage.get("prompt_tokens_details") or {}).get("cached_tokens") is not None

    def take_whole(self, body: Any) -> None:
        """Fill from a ``chat.completion`` object; raises ``BrokenStream`` where it is none."""
        try:
            self._whole(body)
        except SHAPE as error:
            raise _no_reply(body, error) from error

    def take_delta(self, event: Any, now_s: float) -> None:
        """Add one ``chat.completion.chunk``; raises ``BrokenStream`` where it is none."""
        try:
            self._delta(event, now_s)
        except SHAPE as error:
            raise _no_reply(event, error) from error

    def _whole(self, body: Any) -> None:
        choice = self._head(body)
        message = choice.get("message") if choice else None
        if choice is None or not isinstance(message, dict):
            raise BrokenStream(f"{MALFORMED}: no choice in {str(body)[:60]!r}")
        self._text(message)
        self.tool_calls = [_whole_call(call) for call in message.get("tool_calls") or []]
        self._end(choice)

    def _delta(self, event: Any, now_s: float) -> None:
        choice = self._head(event)
        if choice is None:
            return
        delta = choice.get("delta") or {}
        if any(map(delta.get, PARTS)):
            self.token_times.append(now_s)
            if self.first_token_s is None:
                self.first_token_s = now_s
        self._text(delta)
        for part in delta.get("tool_calls") or []:
            self._call(part)
        self._end(choice)

    def message(self) -> dict[str, Any]:
        """The assistant message that an agent puts into its conversation: what it received."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning is not None:
            message[self.reasoning_key] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = self.tool_calls
        return message

    def _head(self, body: Any) -> dict[str, Any] | None:
        if not isinstance(body, dict) or body.get("error") is not None:
            raise BrokenStream(refusal(body))
        self.request_id = _utf8(body.get("id") or "") or self.request_id
        if body.get("usage"):
            self.usage = _counts(body["usage"])
        self._tiers(body.get("sglext"))
        choices = body.get("choices") or []
        return choices[0] if choices else None

    def _tiers(self, told: Any) -> None:
        """Where the cached tokens lay, as SGLang says it: device, host, storage."""
        tiers = told.get("cached_tokens_details") if isinstance(told, dict) else None
        self.cached_tiers |= _numbers(tiers, *(tiers if isinstance(tiers, dict) else ()))

    def _text(self, part: dict[str, Any]) -> None:
        if part.get("content") is not None:
            self.content = (self.content or "") + _utf8(part["content"])
        for key in ("reasoning_content", "reasoning"):  # vLLM has said both, and one of them
            if part.get(key) is not None:
                self.reasoning_key = key
                self.reasoning = (self.reasoning or "") + _utf8(part[key])
                break

    def _call(self, part: dict[str, Any]) -> None:
        """Merge one delta of a call: the first names it, later ones add to its arguments."""
        index = part.get("index", 0)
        if index < 0:
            raise BrokenStream(f"{MALFORMED}: a tool call at {index}")
        if index == len(self.tool_calls):
            self.tool_calls.append(
                {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            )
        call, function = self.tool_calls[index], part.get("function") or {}
        if part.get("id") and function.get("name") and call["id"] not in ("", part["id"]):
            raise BrokenStream(f"{MALFORMED}: two tool calls at {index}")
        call["id"] = part.get("id") or call["id"]
        call["function"]["name"] += _utf8(function.get("name") or "")
        call["function"]["arguments"] += _utf8(function.get("arguments") or "")

    def _end(self, choice: dict[str, Any]) -> None:
        self.finish_reason = _utf8(choice.get("finish_reason") or "") or self.finish_reason
        ids = choice.get("token_ids")
        if ids is not None:
            if not isinstance(ids, list) or any(type(token) is not int for token in ids):
                raise BrokenStream(
                    f"{MALFORMED}: token_ids are not a list of numbers: {str(ids)[:60]}"
                )
            self.token_ids = ids


def _counts(usage: Any) -> dict[str, Any]:
    """Of a usage the counts that are counts; a server that counts oddly has replied all the same.

    >>> _counts({"prompt_tokens": 9, "completion_tokens": "many", "prompt_tokens_details": [1]})
    {'prompt_tokens': 9}
    """
    found = _numbers(usage, "prompt_tokens", "completion_tokens")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    cached = _numbers(details, "cached_tokens")
    return {**found, "prompt_tokens_details": cached} if cached else dict(found)


def _numbers(told: Any, *keys: str) -> dict[str, int]:
    counts = {key: told.get(key) for key in keys} if isinstance(told, dict) else {}
    return {k: n for k, n in counts.items() if type(n) is int and 0 <= n <= MOST_TOKENS}


def _whole_call(call: Any) -> dict[str, Any]:
    """A call of a whole reply; what it lacks or what its arguments hold is for a detector."""
    if not isinstance(call, dict) or not isinstance(call.get("function") or {}, dict):
        raise BrokenStream(f"{MALFORMED}: not a tool call: {str(call)[:60]}")
    json.dumps(call, ensure_ascii=False).encode()
    return call


def _utf8(text: Any) -> str:
    """The text, which must be one that a request can send back: half a surrogate pair is none."""
    if not isinstance(text, str):
        raise BrokenStream(f"{MALFORMED}: not text: {str(text)[:60]}")
    text.encode()
    return text


def _no_reply(body: Any, error: Exception) -> BrokenStream:
    """The surprise of a body that has another shape."""
    return BrokenStream(f"{MALFORMED}: not a reply ({error}): {str(body)[:60]}")
