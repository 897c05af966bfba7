"""What an engine is told before it starts. One rule: frozen, complete, and printed as it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from engine.errors import ConfigError

PAGE_TOKENS = 256  # production hard-codes system pages of 256 tokens
C4_RATIO, C128_RATIO = 4, 128  # raw tokens per compressed entry


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the constructed model. ``index_topk`` counts c4 entries, ``max_context`` tokens."""

    index_topk: int = 64
    max_context: int = 8192
    compress_ratios: tuple[int, ...] = (0, 0, 128, 4)
    seed: int = 0


@dataclass(frozen=True)
class EngineConfig:
    """One engine. Field names are the toggle keys that an operator could flip.

    ``build`` names the defects that the code under test contains; nothing but the assembly of the
    engine reads it. ``graph_max_bs`` and ``max_running`` count rows, ``chunked_prefill`` tokens,
    ``pool_pages`` pages of 256 tokens.
    """

    index_k: Literal["fp8", "bf16"] = "fp8"
    radix: bool = True
    graph: bool = True
    graph_max_bs: int = 64
    overlap: bool = False
    topk: Literal["v1", "v2"] = "v1"
    chunked_prefill: int = 2048
    pool_pages: int = 1024
    allocator: Literal["lifo", "fifo", "random"] = "lifo"
    max_running: int = 64
    stream_interval: int = 1
    hardware: str = "h200"
    device: str = "cpu"
    seed: int = 0
    build: tuple[str, ...] = ()
    model: ModelConfig = field(default_factory=ModelConfig)

    def __post_init__(self) -> None:
        if self.chunked_prefill <= 0 or self.chunked_prefill % PAGE_TOKENS:
            raise ConfigError(
                f"chunked_prefill is {self.chunked_prefill}; it must be a positive multiple of "
                f"{PAGE_TOKENS}, the page size"
            )
        _at_least(self, "graph_max_bs", 1)
        _at_least(self, "max_running", 1)
        _at_least(self, "stream_interval", 1)
        _at_least(self, "pool_pages", 2)

    def as_dict(self) -> dict[str, Any]:
        """The configuration as JSON-ready values: what `/server_info` answers."""
        return asdict(self)


def _at_least(config: EngineConfig, name: str, least: int) -> None:
    value = getattr(config, name)
    if value < least:
        raise ConfigError(f"{name} is {value}; it must be at least {least}")
