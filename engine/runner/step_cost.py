"""How long a step takes on named hardware. One rule: bytes over bandwidth, tokens over rate.

Only *time* is modelled: the bytes are really moved and the operations really run elsewhere. The
figures are those of a DeepSeek-V4-Flash class model on one node; what matters to the incidents is
their proportion (a decode step of tens of milliseconds, a prefill chunk of hundreds).
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import PAGE_TOKENS
from engine.errors import ConfigError
from engine.pools import layouts

WINDOW = 128  # tokens
SWA_LAYERS, C4_LAYERS, C128_LAYERS = (layouts.FLASH_LAYERS[pool] for pool in ("swa", "c4", "c128"))


@dataclass(frozen=True)
class Hardware:
    """Rates of one node: bytes per second, tokens per second, seconds."""

    hbm_bytes_per_s: float
    prefill_tokens_per_s: float
    decode_base_s: float  # weights read once, kernels launched by a graph
    decode_row_s: float
    eager_launch_s: float  # what launching kernel by kernel adds to a step


PRESETS: dict[str, Hardware] = {
    "h200": Hardware(4.25e12, 24_000.0, 0.011, 0.00012, 0.009),
    "rtx-pro-6000": Hardware(1.6e12, 9_000.0, 0.019, 0.00025, 0.012),
}


def preset(name: str) -> Hardware:
    """The named hardware, or ``ConfigError`` with the accepted names."""
    if name not in PRESETS:
        raise ConfigError(f"hardware {name!r} is unknown; accepted: {', '.join(PRESETS)}")
    return PRESETS[name]


def prefill_s(hw: Hardware, tokens: int) -> float:
    """Seconds of a prefill step over ``tokens`` tokens in all."""
    return hw.decode_base_s + tokens / hw.prefill_tokens_per_s


def kv_bytes_per_token(index_k: str) -> float:
    """Bytes that a decode step reads for each token of context: c4, c128 and index-K."""
    pools = [
        (layouts.c4(C4_LAYERS), C4_LAYERS),
        (layouts.c128(C128_LAYERS), C128_LAYERS),
        (layouts.index_k(index_k, C4_LAYERS), C4_LAYERS),
    ]
    return sum(layout.page_bytes * layers for layout, layers in pools) / PAGE_TOKENS


def c4_entry_bytes() -> int:
    """Bytes of one c4 latent, in every layer that has one."""
    return sum(plane.row_bytes for plane in layouts.c4(1).planes) * C4_LAYERS


def window_bytes() -> float:
    """Bytes of the sliding windows that a decode step reads for each row."""
    return layouts.swa(SWA_LAYERS).page_bytes * SWA_LAYERS * WINDOW / PAGE_TOKENS


def decode_s(hw: Hardware, rows: int, kv_bytes: float, captured: bool) -> float:
    """Seconds of a decode step of ``rows`` rows (padding included) that reads ``kv_bytes``."""
    launch = 0.0 if captured else hw.eager_launch_s
    return hw.decode_base_s + launch + rows * hw.decode_row_s + kv_bytes / hw.hbm_bytes_per_s
