"""The key that a server wants, held while an arm runs. One rule: it goes into the request's header
and nowhere else: what a server says back is stored without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.records import Reply


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
            return told.replace(self.value, f"${self.variable}")
        if isinstance(told, dict):
            return {self.scrub(key): self.scrub(value) for key, value in told.items()}
        if isinstance(told, list | tuple):
            return type(told)(self.scrub(one) for one in told)
        return told

    def scrubbed(self, reply: Reply) -> Reply:
        """The reply as it may be stored; its chunks are one where the key lay in two of them."""
        if not self.value:
            return reply
        whole = "".join(reply.chunks)
        chunks = (whole,) if self.value in whole else reply.chunks
        return replace(
            reply,
            chunks=self.scrub(chunks),
            **{name: self.scrub(getattr(reply, name)) for name in TEXTS},
        )


TEXTS = ("error", "content", "reasoning", "raw_text", "tool_calls", "request_id", "finish_reason")
