"""How many bytes a prefill sends, for any number of layers. One rule: pages, never tokens.

A chunk of 8,192 tokens of DeepSeek-V4-Flash is 31.9 MB with fp8 index keys and 37.3 MB with bf16:
index-K nearly doubles, what is sent grows by a sixth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import C4_RATIO, C128_RATIO
from engine.disagg.metadata import AUX, ROW_BYTES
from engine.disagg.pieces import EVERY_CHUNK, LAST_CHUNK, window_pages
from engine.pools import layouts
from engine.pools.device import REQUEST_ADDRESSED
from engine.sched.limits import pages_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def layers_of(compress_ratios: Sequence[int]) -> dict[str, int]:
    """Layers that have each pool, in a model of these compression ratios."""
    n4, n128 = compress_ratios.count(C4_RATIO), compress_ratios.count(C128_RATIO)
    by_ratio = {"c128": n128, REQUEST_ADDRESSED: n128, "swa": len(compress_ratios)}
    return {pool: by_ratio.get(pool, n4) for pool in (*EVERY_CHUNK, *LAST_CHUNK)}


def item_bytes(index_k: str) -> dict[str, int]:
    """Bytes of one item of one layer of each pool: a page, a request's ring, a metadata row."""
    one = {
        "c4": layouts.c4(1),
        "index_k": layouts.index_k(index_k, 1),
        "c128": layouts.c128(1),
        "swa": layouts.swa(1),
        "c4_state": layouts.c4_state(1),
        "index_state": layouts.index_state(1),
        REQUEST_ADDRESSED: layouts.c128_state(1),
    }
    return {**{pool: layout.page_bytes for pool, layout in one.items()}, AUX: ROW_BYTES}


def chunk_bytes(index_k: str, tokens: int, layers: Mapping[str, int]) -> dict[str, int]:
    """Bytes of a chunk by pool, in wire order; ``layers`` says how many have each pool."""
    size, pages = item_bytes(index_k), pages_of(tokens)
    return {pool: pages * size[pool] * layers[pool] for pool in EVERY_CHUNK}


def once_bytes(tokens: int, layers: Mapping[str, int]) -> dict[str, int]:
    """Bytes by pool that go once, with the last chunk of a prompt of ``tokens``, in wire order.

    The window's pages, the compressors' states and a metadata row; no index keys among them.
    """
    size, window = item_bytes("fp8"), len(window_pages(tokens))
    items = dict.fromkeys(LAST_CHUNK, window) | {REQUEST_ADDRESSED: 1}
    sums = {pool: items[pool] * size[pool] * layers[pool] for pool in LAST_CHUNK}
    return {**sums, AUX: size[AUX]}
