"""An engine's facade without an engine: it follows the manual, or garbles what it says.

One rule: like the constructed model it copies the entry whose key was asked for last.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from engine import clock
from engine.config import EngineConfig
from engine.text.tokenizer import ASSISTANT, EOS, VOCAB_SIZE, decode

if TYPE_CHECKING:
    from random import Random

Garble = Callable[[list[int]], list[int]]
STEP_S = 0.02


class Follower:
    """Serves requests; ``garble`` may change the ids of each reply before they are said."""

    died: Exception | None = None

    def __init__(self, garble: Garble = lambda ids: ids, interval: int = 3) -> None:
        self.config, self.garble, self.interval = EngineConfig(), garble, interval
        self.handles: list[Saying] = []

    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str]) -> Saying:
        ids = self.garble(reply_to(prompt))[:max_tokens]
        self.handles.append(Saying(len(self.handles), ids, self.interval))
        return self.handles[-1]

    def abort(self, request_id: int) -> bool:
        found = [said for said in self.handles if said.request_id == request_id]
        for said in found:
            said.abort()
        return bool(found)

    def abort_all(self) -> None:
        for said in self.handles:
            said.abort()

    def flush(self) -> bool:
        return True

    def info(self) -> dict[str, Any]:
        return self.config.as_dict()


class Saying:
    """One generation: ids in groups, a step of virtual time apart."""

    cached_tokens = 0
    step_s = STEP_S

    def __init__(self, request_id: int, ids: list[int], interval: int) -> None:
        self.request_id, self.ids, self.interval = request_id, ids, interval
        self.finish_reason: str | None = None

    async def __aiter__(self) -> AsyncIterator[list[int]]:
        for at in range(0, len(self.ids), self.interval):
            await clock.sleep(self.step_s)
            yield self.ids[at : at + self.interval]
        if self.finish_reason is None:
            self.finish_reason = "stop" if self.ids[-1:] == [EOS] else "length"

    def abort(self) -> None:
        self.finish_reason = "abort"


def reply_to(prompt: list[int]) -> list[int]:
    """The ids that a healthy model says, up to and with the end of sequence."""
    text = decode(prompt)
    line = text[text.rindex('{"', 0, len(text)) :].split("}")[0] + "}"
    key = json.loads(line)["key"]
    marker = f'{{"key":"{key}"}}'.encode()
    start = _find(prompt, [*marker, ASSISTANT]) + len(marker) + 1
    return prompt[start : prompt.index(EOS, start) + 1]


def flips(rng: Random, rate: float) -> Garble:
    """Replaces each id by any other with probability ``rate``."""
    return lambda ids: [rng.randrange(VOCAB_SIZE) if rng.random() < rate else t for t in ids]


def runaway(ids: list[int]) -> list[int]:
    """Goes round and never ends."""
    return (ids[:-1] + ids[40:80] * 40)[:2000]


def _find(prompt: list[int], needle: list[int]) -> int:
    return next(i for i in range(len(prompt)) if prompt[i : i + len(needle)] == needle)
