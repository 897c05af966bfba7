"""From a request's bytes to what the engine is asked for. One rule: every refusal names a field."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import ValidationError

from engine.api.errors import ApiError, from_validation
from engine.api.models import AbortRequest, ChatRequest, NamedChoice
from engine.config import PAGE_TOKENS
from engine.text import template

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.config import EngineConfig
    from engine.text.dsml import Tools


M = TypeVar("M", bound="BaseModel")


@dataclass(frozen=True)
class Job:
    """One chat request, ready to run. ``callable`` is None where no call is to be parsed."""

    prompt: list[int]
    max_tokens: int
    stops: tuple[str, ...]
    callable: Tools | None
    stream: bool
    include_usage: bool
    return_token_ids: bool


def read(raw: bytes, model: str, config: EngineConfig) -> Job:
    """The job that the body asks for; raises ApiError."""
    body = _json(raw)
    asked = _valid(ChatRequest, body)
    _check(asked, model)
    tools = asked.tools or []
    if asked.tool_choice == "none":
        tools = []
    shown = [tool.model_dump(exclude_unset=True) for tool in tools]
    prompt = _render(body["messages"], shown)
    options = asked.stream_options
    return Job(
        prompt,
        _limit(len(prompt), asked.limit, config),
        asked.stops,
        _callable(asked, shown),
        bool(asked.stream),
        options is not None and options.include_usage,
        asked.return_token_ids,
    )


def read_abort(raw: bytes) -> AbortRequest:
    """What the body of an abort asks for; raises ApiError."""
    return _valid(AbortRequest, _json(raw))


def _valid(model: type[M], body: dict[str, Any]) -> M:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise from_validation(error, body) from None


def _json(raw: bytes) -> Any:
    try:
        body = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ApiError(f"We could not parse the JSON body of your request: {error}.") from None
    if not isinstance(body, dict):
        raise ApiError("The body of your request is not a JSON object.")
    return body


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _check(asked: ChatRequest, model: str) -> None:
    """What no single field can say."""
    if asked.model != model:
        message = f"The model '{asked.model}' does not exist; this server has '{model}'."
        raise ApiError(message, "model", "model_not_found", 404)
    limits = (asked.max_tokens, asked.max_completion_tokens)
    if None not in limits and limits[0] != limits[1]:
        raise ApiError("'max_tokens' and 'max_completion_tokens' differ.", "max_tokens")
    if asked.stream_options is not None and not asked.stream:
        raise ApiError("'stream_options' needs 'stream': true.", "stream_options")
    names = [tool.function.name for tool in asked.tools or ()]
    if len(names) > len(dict.fromkeys(names)):
        raise ApiError("Two tools have one name.", "tools")
    choice = asked.tool_choice
    if isinstance(choice, NamedChoice) and choice.function.name not in names:
        message = f"'tool_choice' names '{choice.function.name}', which is not in 'tools'."
        raise ApiError(message, "tool_choice")
    if choice not in (None, "none") and not names:
        raise ApiError("'tool_choice' is only allowed when 'tools' are given.", "tool_choice")


def _render(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
    try:
        return template.render(messages, tools)
    except UnicodeEncodeError as error:  # half of a surrogate pair, from a JSON escape
        raise ApiError(f"A text is not Unicode: {error.reason}.", "messages") from None


def _limit(prompt: int, asked: int | None, config: EngineConfig) -> int:
    """How many tokens the reply may have; prompt and reply share the context, and the pool.

    Who asks for no number gets what there is room for. What the pool cannot hold is the engine's
    to refuse: it says how many pages are missing.
    """
    max_context = config.model.max_context
    if prompt + (asked or 1) > max_context:
        completion = f" and {asked} for the completion" if asked else ""
        raise ApiError(
            f"This model's maximum context length is {max_context} tokens. However, you requested "
            f"{prompt + (asked or 0)} tokens: {prompt} in the messages{completion}.",
            "messages",
            "context_length_exceeded",
        )
    room = min(max_context, config.pool_pages * PAGE_TOKENS)
    return asked or max(room - prompt, 1)


def _callable(asked: ChatRequest, tools: list[dict[str, Any]]) -> Tools | None:
    """The tools that the reply may call, by name; a named choice leaves only one."""
    if not tools:
        return None
    schemas = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in tools}
    if isinstance(asked.tool_choice, NamedChoice):
        name = asked.tool_choice.function.name
        return {name: schemas[name]}
    return schemas
