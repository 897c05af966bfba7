"""The key that a server wants, held while an arm runs. One rule: it goes into the request's header
and nowhere else: what a server says back is stored without it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.records import Reply

LEAST = 8  # characters of a key that are taken for it where a text was cut


@dataclass(frozen=True, repr=False)
class Secret:
    """A key and the environment variable that it came from; without a value there is none."""

    variable: str = ""
    value: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What a request carries."""
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def scrub(self, told: Any) -> Any:
        """Text, or structure with texts in it, with the variable's name instead of the key."""
        if not self.value:
            return told
        if isinstance(told, str):
            for form in self._forms():
                told = told.replace(form, f"${self.variable}")
            return told
        if isinstance(told, dict):
            return {self.scrub(key): self.scrub(value) for key, value in told.items()}
        if isinstance(told, list | tuple):
            return type(told)(self.scrub(one) for one in told)
        return told

    def scrub_cut(self, told: str) -> str:
        """A message that quotes a text cut short: without the key, the beginning of it, or, behind
        an ellipsis, the end of it.
        """
        told = self.scrub(told)
        for form in self._forms():
            for length in range(len(form) - 1, LEAST - 1, -1):
                told = told.replace(form[:length], f"${self.variable}")
                told = told.replace(f"...{form[-length:]}", f"...${self.variable}")
        return told

    @property
    def ends(self) -> set[str]:
        """Of a text with none of these in it, `scrub_cut` takes nothing."""
        return {end for form in self._forms() for end in (form[:LEAST], form[-LEAST:])}

    def scrub_chunks(self, chunks: Sequence[str]) -> tuple[str, ...]:
        """The chunks, which are one where the key lay in any or in two of them."""
        whole = "".join(chunks) if self.value else ""
        clean = self.scrub(whole)
        return tuple(chunks) if clean == whole else (clean,)

    def scrubbed(self, reply: Reply) -> Reply:
        """The reply as it may be stored."""
        if not self.value:
            return reply
        return replace(
            reply,
            chunks=self.scrub_chunks(reply.chunks),
            error=self.scrub_cut(reply.error) if reply.error else reply.error,
            **{name: self.scrub(getattr(reply, name)) for name in TEXTS},
        )

    def _forms(self) -> list[str]:
        """How a text may spell the key: as it is, as JSON escapes it, as Python quotes these."""
        if not self.value:
            return []
        escaped = json.dumps(self.value)[1:-1]
        spelled = (self.value, escaped, escaped.replace("/", r"\/"))
        forms = {*spelled, *(repr(form)[1:-1] for form in spelled)}
        return sorted(forms, key=lambda form: (-len(form), form))


TEXTS = ("content", "reasoning", "raw_text", "tool_calls", "request_id", "finish_reason")
