"""What a chat request may say. One rule: a field that would change nothing is refused, unless it
is known to be harmless, and then the package's docstring says so.

Messages keep unknown members out of the way instead: clients send back what they were given.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from engine.text import arguments
from engine.text.tokenizer import VOCAB_SIZE

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
UNSUPPORTED = (  # a value other than the default is refused by name
    *("n", "logprobs", "top_logprobs", "presence_penalty", "frequency_penalty", "logit_bias"),
    *("parallel_tool_calls", "response_format"),
)
OUR_ID = re.compile(r"(?:chatcmpl-)?([0-9]{1,18})")
Index = Annotated[int, Field(ge=0, lt=VOCAB_SIZE)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _Lenient(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class AbortRequest(_Strict):
    """Which generation is to end, by its reply's id or number; or all of them."""

    rid: int | str | None = None
    abort_all: bool = False

    @property
    def number(self) -> int | None:
        """The engine's number of the request; None for an id that is none of ours."""
        found = OUR_ID.fullmatch(str(self.rid))
        return int(found[1]) if found else None


class TextPart(_Lenient):
    """A content part; text is the only kind that the model reads."""

    type: Literal["text"]
    text: str


Text = str | list[TextPart]


class PlainMessage(_Lenient):
    """What the operator or the user says."""

    role: Literal["system", "developer", "user"]
    content: Text


class ToolMessage(_Lenient):
    """What a tool answered."""

    role: Literal["tool"]
    tool_call_id: str
    content: Text


def _is_object(text: str) -> str:
    arguments.members(text)
    return text


class CalledFunction(_Lenient):
    """A call that the model made; ``arguments`` is the JSON text of an object."""

    name: Name
    arguments: Annotated[str, AfterValidator(_is_object)]


class MadeCall(_Lenient):
    """A call in an assistant's turn."""

    id: str = ""
    type: Literal["function"] = "function"
    function: CalledFunction


class AssistantMessage(_Lenient):
    """What the model said. ``token_ids`` (our extension) are its exact tokens, and then the rest
    is not read."""

    role: Literal["assistant"]
    content: Text | None = None
    reasoning_content: str | None = None
    tool_calls: list[MadeCall] | None = None
    token_ids: list[Index] | None = None


Message = Annotated[PlainMessage | ToolMessage | AssistantMessage, Field(discriminator="role")]


class Schema(BaseModel):
    """A JSON Schema, as far as the parser reads it; other keywords may say anything."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")

    type: str | list[str] | None = None
    enum: list[Any] | None = None
    required: list[str] | None = None
    properties: dict[str, Schema | bool] | None = None
    additionalProperties: Schema | bool | None = None
    items: Schema | bool | None = None


class Function(_Strict):
    """A tool's declaration."""

    name: Name
    description: str | None = None
    parameters: Schema | None = None
    strict: bool | None = None


class Tool(_Strict):
    """A function that the model may call."""

    type: Literal["function"]
    function: Function


class NamedFunction(_Strict):
    """The name inside a named ``tool_choice``."""

    name: Name


class NamedChoice(_Strict):
    """``tool_choice`` that names one function."""

    type: Literal["function"]
    function: NamedFunction


class StreamOptions(_Strict):
    """``include_usage`` asks for one more chunk that holds the usage."""

    include_usage: bool = False


class PlainFormat(_Strict):
    """The only response format there is: text."""

    type: Literal["text"]


class ChatRequest(_Strict):
    """``POST /v1/chat/completions``."""

    messages: Annotated[list[Message], Field(min_length=1)]
    model: str
    tools: list[Tool] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: Annotated[str, Field(min_length=1)] | list[Annotated[str, Field(min_length=1)]] | None = (
        None
    )
    return_token_ids: bool = False
    # accepted, and without any effect on a greedy model
    seed: int | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    # accepted only where it asks for what is done anyway
    n: Literal[1] | None = None
    logprobs: Literal[False] | None = None
    top_logprobs: None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    logit_bias: Annotated[dict[str, float], Field(max_length=0)] | None = None
    parallel_tool_calls: Literal[True] | None = None
    response_format: PlainFormat | None = None

    @property
    def limit(self) -> int | None:
        """How many tokens the reply may have; None where the context decides."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def stops(self) -> tuple[str, ...]:
        """Texts that end the reply, and are no part of it."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
