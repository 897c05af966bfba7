"""What each engine of a pair is configured as. One rule: the pair's settings are read here only.

Ranks of a side are configured alike: they come to the same pages and rows each by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.config import EngineConfig


def prefill_config(config: EngineConfig) -> EngineConfig:
    """The engine that computes prompts: prefix cache and host tier as set, never HiSparse."""
    return replace(config, hisparse=False)


def decode_config(config: EngineConfig) -> EngineConfig:
    """The engine that decodes: pages and index keys of its own, HiSparse as set, no prefix cache.

    SGLang's decode side turns its radix cache off and takes every page from a room.
    """
    index_k = config.index_k if config.decode_index_k == "same" else config.decode_index_k
    return replace(
        config,
        radix=False,
        hicache=False,
        index_k=index_k,
        pool_pages=config.decode_pool_pages or config.pool_pages,
    )
