"""A fault for a real vLLM, as a plugin of it: prefix-cache hits on the blocks of other prefixes.

Every eighth block that its cache is asked for and has is another one, which some prompt had hit
before. vLLM loads plugins in each of its processes; the one that schedules is hit.
"""

from __future__ import annotations

from collections import deque
from typing import Any

EVERY, AGO = 8, 40


def inject() -> None:
    """Put the fault into vLLM's block pool; called by vLLM."""
    from vllm.v1.core.block_pool import BlockPool

    right = BlockPool.get_cached_block
    given: deque[Any] = deque(maxlen=AGO)
    hits = 0

    def get_cached_block(pool: Any, block_hash: Any, groups: Any) -> Any:
        nonlocal hits
        found = right(pool, block_hash, groups)
        if found is None:
            return None
        hits += 1
        given.append(found)
        return given[0] if hits % EVERY == 0 else found

    BlockPool.get_cached_block = get_cached_block
