"""The DeepSeek-V4 family of page layouts. One rule: a size is data here and arithmetic nowhere.

Production geometry (SGLang, ``deepseek_v4_memory_pool.py``): a page is 256 tokens in every pool;
the compressed pools hold 256 / ratio entries of it.

=========  ============  ===========  ==================================================
pool       entries/page  bytes/page   inside a page
=========  ============  ===========  ==================================================
swa        256           149,760      256 x 576 values, 256 x 8 scales, padded to x 576
c4         64            37,440       64 x 576 values, 64 x 8 scales, padded
c128       2             1,728        2 x 576 values, 2 x 8 scales, padded
index-K    64            8,448 fp8    64 x 128 e4m3, then 64 float32 scales
index-K    64            16,384 bf16  64 x 128 bf16, contiguous
=========  ============  ===========  ==================================================
"""

from __future__ import annotations

import torch

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.errors import ConfigError
from kernels.layout import PageLayout, Plane

# layers of DeepSeek-V4-Flash that have a pool: what is moved here stands for so many
FLASH_LAYERS = {
    "swa": 43,
    **dict.fromkeys(("c128", "c128_state"), 20),
    **dict.fromkeys(("c4", "index_k", "c4_state", "index_state"), 21),
}
LATENT_ALIGN = 576  # FlashMLA wants pages in multiples of one row of values


def latent(entries: int, layers: int) -> PageLayout:
    """Latent rows: 448 e4m3 + 64 bf16 in 576 B, 7 ue8m0 scales and one pad in 8 B."""
    planes = (Plane("value", 576, torch.uint8), Plane("scale", 8, torch.uint8))
    return PageLayout(planes, entries, layers, row_align=LATENT_ALIGN)


def swa(layers: int) -> PageLayout:
    """Sliding-window latents, one a token."""
    return latent(PAGE_TOKENS, layers)


def c4(layers: int) -> PageLayout:
    """Latents of 4 tokens each."""
    return latent(PAGE_TOKENS // C4_RATIO, layers)


def c128(layers: int) -> PageLayout:
    """Latents of 128 tokens each."""
    return latent(PAGE_TOKENS // C128_RATIO, layers)


def index_k(dtype: str, layers: int) -> PageLayout:
    """The indexer's keys, one a c4 entry: ``fp8`` with a float32 scale, or plain ``bf16``.

    Raises ``ConfigError`` for any other dtype.
    """
    if dtype == "fp8":
        planes: tuple[Plane, ...] = (
            Plane("value", 128, torch.float8_e4m3fn),
            Plane("scale", 1, torch.float32),
        )
    elif dtype == "bf16":
        planes = (Plane("value", 128, torch.bfloat16),)
    else:
        raise ConfigError(f"index_k is {dtype!r}; accepted: fp8, bf16")
    return PageLayout(planes, PAGE_TOKENS // C4_RATIO, layers)


def c4_state(layers: int) -> PageLayout:
    """Ring of 8 unfinished c4 inputs a page: kv [2 x 512] and score [2 x 512], float32."""
    return PageLayout((Plane("state", 2 * 2 * 512, torch.float32),), 8, layers)


def index_state(layers: int) -> PageLayout:
    """Ring of 8 unfinished index inputs a page: kv [2 x 128] and score [2 x 128], float32."""
    return PageLayout((Plane("state", 2 * 2 * 128, torch.float32),), 8, layers)


def c128_state(layers: int) -> PageLayout:
    """Ring of 128 unfinished c128 inputs a *request*: kv [512] and score [512], float32."""
    return PageLayout((Plane("state", 2 * 512, torch.float32),), 128, layers)
