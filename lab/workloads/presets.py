"""Sizes that belong together: a load's numbers and the engine's defaults for them.

One rule: a preset only holds defaults; a scenario, then an arm, may override every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Preset:
    """Defaults of one size: ``workload`` by the load's keys, ``engine`` by toggle keys."""

    about: str
    workload: Mapping[str, Any]
    engine: Mapping[str, Any]


# what the small presets have in common
SMALL_LOAD = {
    "sessions": 8,
    "turns": 2,
    "groups": 2,
    "shared_entries": 2,
    "private_entries": 2,
    "most_entries": 5,
    "max_tokens": 300,
}
SMALL_ENGINE = {"index_topk": 16, "pool_pages": 48, "chunked_prefill": 512, "concurrency": 8}

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "reference": Preset(
            about="60 sessions of 4 turns over contexts of about 6,000 tokens",
            workload=MappingProxyType(
                {
                    "sessions": 60,
                    "turns": 4,
                    "groups": 6,
                    "shared_entries": 11,  # 3.3k tokens: 13 pages to share
                    "private_entries": 5,  # 1.5k tokens
                    "max_tokens": 420,
                }
            ),
            engine=MappingProxyType(
                # 60 open sessions need about 880 pages at their end: the pool is just too small,
                # so that some are retracted, and large enough that prefixes are mostly kept
                {"index_topk": 64, "pool_pages": 832, "chunked_prefill": 2048, "concurrency": 60}
            ),
        ),
        "small": Preset(
            about="8 sessions of 2 turns over contexts of about 2,000 tokens, for tests",
            workload=MappingProxyType(SMALL_LOAD),
            # about four conversations at once: the pool is short on purpose
            engine=MappingProxyType(SMALL_ENGINE),
        ),
        "small_dirty": Preset(
            about="the small load on a pool of about three conversations, free pages poisoned",
            workload=MappingProxyType(SMALL_LOAD),
            engine=MappingProxyType(SMALL_ENGINE | {"pool_pages": 32, "poison_free_pages": True}),
        ),
        "burst": Preset(
            about="8 sessions of 2 turns over contexts of about 1,600 tokens, several a step",
            workload=MappingProxyType(SMALL_LOAD | {"shared_entries": 1, "private_entries": 1}),
            engine=MappingProxyType(SMALL_ENGINE | {"chunked_prefill": 8192}),  # production's
        ),
        "campaign": Preset(
            about="24 sessions of 2 turns over contexts of 1,600 tokens, in any configuration",
            # no two sessions share a manual beyond its head, so prefixes come back by one way only
            workload=MappingProxyType(
                SMALL_LOAD
                | {"sessions": 24, "groups": 24, "max_tokens": 240}
                | {"shared_entries": 1, "private_entries": 1}
            ),
            # the pool holds two thirds of the conversations, and less than all prompts, so that
            # prefixes leave the prefill side of a pair as well; a session of 24 costs half as much
            # as one of 8, since a step costs much the same however many rows it has
            engine=MappingProxyType(
                SMALL_ENGINE
                | {"pool_pages": 96, "decode_pool_pages": 120}
                | {"chunked_prefill": 2048, "concurrency": 24}
            ),
        ),
    }
)
