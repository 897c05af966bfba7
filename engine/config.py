"""What an engine is told before it starts. One rule: frozen, complete, and printed as it is."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

from engine.errors import ConfigError

PAGE_TOKENS = 256  # production hard-codes system pages of 256 tokens
C4_RATIO, C128_RATIO = 4, 128  # raw tokens per compressed entry
LONGEST_CONTEXT = 8192  # tokens; the constructed model tells no more places apart
SHAPE = (0, 0, C128_RATIO, C4_RATIO)


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the constructed model. ``index_topk`` counts c4 entries, ``max_context`` tokens."""

    index_topk: int = 64
    max_context: int = 8192
    compress_ratios: tuple[int, ...] = SHAPE
    seed: int = 0

    def __post_init__(self) -> None:
        _at_least(self, "index_topk", 1)
        if self.max_context % PAGE_TOKENS or not PAGE_TOKENS <= self.max_context <= LONGEST_CONTEXT:
            raise ConfigError(
                f"max_context is {self.max_context}; it must be a multiple of {PAGE_TOKENS}, the "
                f"page size, from {PAGE_TOKENS} to {LONGEST_CONTEXT}"
            )
        if self.compress_ratios != SHAPE:
            raise ConfigError(
                f"compress_ratios is {self.compress_ratios}; it must be {SHAPE}: "
                "the constructed model has this shape"
            )


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
        _literals(self)
        if not re.fullmatch(r"cpu|cuda(:[0-9]+)?", self.device):
            raise ConfigError(f"device is {self.device!r}; accepted: cpu, cuda, cuda:<number>")

    def as_dict(self) -> dict[str, Any]:
        """The configuration as JSON-ready values: what `/server_info` answers."""
        return asdict(self)


def _literals(config: EngineConfig) -> None:
    """Every field whose type lists its values holds one of them."""
    for name, hint in get_type_hints(type(config)).items():
        value = getattr(config, name)
        if get_origin(hint) is Literal and value not in get_args(hint):
            accepted = ", ".join(map(str, get_args(hint)))
            raise ConfigError(f"{name} is {value!r}; accepted: {accepted}")


def _at_least(config: EngineConfig | ModelConfig, name: str, least: int) -> None:
    value = getattr(config, name)
    if value < least:
        raise ConfigError(f"{name} is {value}; it must be at least {least}")
