"""What a scheduler may take on. One rule: what can never be served is refused when it arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.config import PAGE_TOKENS
from engine.errors import ConfigError, RequestRefused

if TYPE_CHECKING:
    from engine.config import EngineConfig
    from engine.request import Request


@dataclass(frozen=True)
class Limits:
    """Rows (``max_running``), tokens a prefill step (``chunked_prefill``), tokens a request."""

    max_running: int = 64
    chunked_prefill: int = 2048
    max_context: int = 8192
    eos: int = 257

    def __post_init__(self) -> None:
        if self.chunked_prefill < PAGE_TOKENS or self.chunked_prefill % PAGE_TOKENS:
            raise ConfigError(f"chunked_prefill is {self.chunked_prefill}: not whole pages")

    @classmethod
    def of(cls, config: EngineConfig) -> Limits:
        """The limits that an engine's configuration states."""
        return cls(config.max_running, config.chunked_prefill, config.model.max_context)

    def refuse_if_hopeless(self, req: Request, pool_pages: int) -> None:
        """Raise ``RequestRefused`` for what no schedule could serve, alone on an empty pool."""
        most = len(req.prompt) + req.max_tokens
        if not req.prompt or req.max_tokens < 1:
            raise RequestRefused("a request needs a prompt and max_tokens >= 1", "invalid_value")
        if most > self.max_context:
            raise RequestRefused(
                f"{len(req.prompt)} prompt tokens and max_tokens {req.max_tokens} are more than "
                f"the context of {self.max_context} tokens"
            )
        if pages_of(most) > pool_pages:
            raise RequestRefused(
                f"{most} tokens need {pages_of(most)} pages; the pool has {pool_pages}"
            )


def pages_of(tokens: int) -> int:
    """Pages that hold ``tokens`` tokens."""
    return -(-tokens // PAGE_TOKENS)
