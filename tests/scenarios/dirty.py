"""A shipped scenario on a pool so small and dirty that prefixes come back from the host in seconds.

Two conversations of about 9 pages over 12: each is evicted by the other before it goes on.
"""

from __future__ import annotations

import functools

from tests.scenarios.whole import Ran, run, scenario

SESSIONS = 2
DIRTY = ("workload.preset=small_dirty", "engine.pool_pages=12")


@functools.lru_cache(maxsize=8)
def dirty(name: str, arm: str, seed: int = 0, *sets: str) -> Ran:
    """One arm of `scenarios/NAME.yaml`; equal arguments run once."""
    return Ran(*run(scenario(name, SESSIONS, *DIRTY, *sets), arm, seed))
