"""The chat template: a conversation in OpenAI's shape becomes the prompt's token ids.

One rule of trust: what the operator or the model wrote (system and assistant text) may spell
special tokens; what a user, a tool or a schema says is plain bytes and can inject none. Production
templates join strings first and encode after, so that there anybody's spelling becomes a token.

Layout: ``BOS`` tools and system text, ``USER`` text, ``TOOL`` text for each result, ``ASSISTANT``
before the reply that is due. An assistant turn is rendered as it was generated, ``EOS`` at its end:
byte for byte from the parts that ``engine.text.parser`` made of it, garbage included. Where the
bytes were no UTF-8, or spelt a special, only the ids know: a message may carry ``token_ids``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.text.dsml import ToolCall, encode_calls
from engine.text.tokenizer import (
    ASSISTANT,
    BOS,
    END_THINK,
    EOS,
    SPELLING,
    THINK,
    TOOL,
    USER,
    encode,
)

if TYPE_CHECKING:
    from engine.text.parser import Parsed

Message = Mapping[str, Any]


def render(messages: Iterable[Message], tools: Sequence[Mapping[str, Any]] = ()) -> list[int]:
    """Token ids of the prompt, up to and with the ``ASSISTANT`` that asks for a reply.

    ``messages`` and ``tools`` are OpenAI's; ValueError where a call's arguments are no JSON object
    or a text holds a lone surrogate, KeyError for an unknown role.
    """
    ids = [BOS, *encode(tool_list(tools), specials=False)]
    for message in messages:
        ids += _TURN[message["role"]](message)
    return [*ids, ASSISTANT]


def render_reply(message: Message) -> list[int]:
    """Token ids of an assistant message's text, as the model wrote it, without ``EOS``."""
    ids = message.get("token_ids")
    if ids is not None:
        return list(ids[:-1]) if ids and ids[-1] == EOS else list(ids)
    return encode(reply_text(message))


def reply_text(message: Message) -> str:
    """An assistant message as raw text, specials spelled out.

    A ``content`` of None without calls is a thought that was never closed.
    """
    reasoning, content = message.get("reasoning_content"), message.get("content")
    calls = message.get("tool_calls") or ()
    text = ""
    if reasoning is not None:
        text = SPELLING[THINK] + reasoning
        if content is not None or calls:
            text += SPELLING[END_THINK]
    text += content_text(content)
    if calls:
        named = (call["function"] for call in calls)
        text += "\n\n" + encode_calls(ToolCall(one["name"], one["arguments"]) for one in named)
    return text


def as_message(parsed: Parsed, call_id: str = "call") -> dict[str, Any]:
    """A parsed reply as OpenAI's assistant message; calls are numbered after ``call_id``."""
    message: dict[str, Any] = {"role": "assistant", "content": parsed.content}
    if parsed.reasoning is not None:
        message["reasoning_content"] = parsed.reasoning
    if parsed.calls:
        message["tool_calls"] = [
            as_tool_call(call, f"{call_id}_{index}") for index, call in enumerate(parsed.calls)
        ]
    return message


def as_tool_call(call: ToolCall, call_id: str) -> dict[str, Any]:
    """A call in OpenAI's shape."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call_id, "type": "function", "function": function}


def content_text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """The text of a message's content: a string, parts of type text, or nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content)


def tool_list(tools: Sequence[Mapping[str, Any]]) -> str:
    """What the prompt says of the tools: a name and its parameters a line.

    It stands first, so that all conversations with the same tools share it as a prefix.
    """
    if not tools:
        return ""
    return "# Tools\n" + "".join(_signature(tool["function"]) + "\n" for tool in tools) + "\n"


def _signature(function: Mapping[str, Any]) -> str:
    properties = (function.get("parameters") or {}).get("properties", {})
    return f"{function['name']}({', '.join(properties)})"


def _system(message: Message) -> list[int]:
    return encode(content_text(message["content"]))


def _user(message: Message) -> list[int]:
    return [USER, *encode(content_text(message["content"]), specials=False)]


def _tool(message: Message) -> list[int]:
    return [TOOL, *encode(content_text(message["content"]), specials=False)]


def _assistant(message: Message) -> list[int]:
    return [ASSISTANT, *render_reply(message), EOS]


_TURN = {
    "system": _system,
    "developer": _system,
    "user": _user,
    "tool": _tool,
    "assistant": _assistant,
}
