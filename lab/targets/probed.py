"""Whether a server has the probe's checkpoint, before its replies are judged by it.

One rule: it is asked for the length of a prompt and not for an answer, so a server that computes
wrong is not taken for one that has another model. Another vocabulary or another chat template is
another number of tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.text.template import render
from lab.driver.client import Ask, ask

if TYPE_CHECKING:
    import httpx

    from lab.driver import Load

PROMPT: tuple[dict[str, Any], ...] = (
    {"role": "system", "content": "These are\ntwo lines.\n"},
    {"role": "user", "content": 'Is this {"a":"prompt"}?'},
)


async def another_model(http: httpx.AsyncClient, load: Load) -> str:
    """Why the server cannot have the probe; empty where it may, or does not count tokens."""
    request = Ask(
        messages=PROMPT,
        tools=(),
        stream=False,
        max_tokens=1,
        timeout_s=load.timeout_s,
        model=load.model,
        extra={},
    )
    counted = (await ask(http, request)).received.usage.get("prompt_tokens")
    due = len(render(PROMPT))
    if counted in (None, due):
        return ""
    return (
        f"model {load.model!r} is not the probe, whose replies are due: a prompt of {due} tokens "
        f"is {counted} there; `kvlab probe make` makes the checkpoint to serve"
    )
