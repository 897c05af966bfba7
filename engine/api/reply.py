"""Token ids in, a reply's parts out: decoding, stop texts and parsing, in that order.

One rule: how the ids are grouped changes nothing but the cutting of the deltas.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from engine.api.facade import release
from engine.text.parser import Delta, StreamParser
from engine.text.tokenizer import EOS, Decoder

if TYPE_CHECKING:
    from engine.api.facade import Handle
    from engine.api.request import Job


class StopTexts:
    """Cuts a text before the first stop text in it, and keeps back what may be the start of one."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = stops
        self._wait = ""
        self.hit = False

    def feed(self, text: str) -> str:
        """What of the text so far is certainly before any stop text."""
        if not self._stops:
            return text
        self._wait += text
        found = [at for at in map(self._wait.find, self._stops) if at >= 0]
        self.hit = bool(found)
        cut = min(found) if found else self._safe()
        said, self._wait = self._wait[:cut], self._wait[cut:]
        return said

    def finish(self) -> str:
        """What was kept back; nothing after a hit."""
        return "" if self.hit else self._wait

    def _safe(self) -> int:
        """Length of the head that no stop text can begin in."""
        starts = range(max(0, len(self._wait) - max(map(len, self._stops)) + 1), len(self._wait))
        for at in starts:
            if any(stop.startswith(self._wait[at:]) for stop in self._stops):
                return at
        return len(self._wait)


class Reply:
    """One reply under way. ``token_ids`` are all ids up to its end, the closing EOS too."""

    def __init__(self, handle: Handle, job: Job) -> None:
        self._handle = handle
        self._decoder = Decoder()
        self._stop = StopTexts(job.stops)
        self._parser = StreamParser(job.callable)
        self._prompt_tokens = len(job.prompt)
        self._calls = 0
        self._over = False  # at EOS or a stop text: what follows is no part of the reply
        self.token_ids: list[int] = []

    async def deltas(self) -> AsyncGenerator[list[Delta], None]:
        """The reply's pieces as they come; the generation is released where it ends early."""
        async for ids in self._handle:
            text = "".join([self._take(token) for token in ids])
            if text and (pieces := self._parser.feed(text)):
                yield pieces
            if self._stop.hit:
                break
        release(self._handle)
        rest = "" if self._stop.hit else self._stop.feed(self._decoder.finish())
        last = self._parser.feed(rest + self._stop.finish()) + self._parser.finish()
        self._calls = sum(piece.call is not None for piece in last)
        if last:
            yield last

    def _take(self, token: int) -> str:
        """The text that a token settles. A group of ids may reach beyond the reply's end."""
        if self._over:
            return ""
        self.token_ids.append(token)
        if token == EOS:
            self._over = True
            return ""
        text = self._stop.feed(self._decoder.feed(token))
        self._over = self._stop.hit
        return text

    @property
    def finish_reason(self) -> str:
        """OpenAI's word for the end, once all deltas are out; "abort" is the engine's own."""
        ended = self._over or self._stop.hit
        reason = "stop" if ended else self._handle.finish_reason or "stop"
        return "tool_calls" if reason == "stop" and self._calls else reason

    @property
    def usage(self) -> dict[str, Any]:
        """Tokens counted so far."""
        completion = len(self.token_ids)
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self._prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": self._handle.cached_tokens},
        }
