"""How long a step takes on named hardware. One rule: bytes over bandwidth, tokens over rate.

Only *time* is modelled: the bytes are really moved and the operations really run elsewhere. The
figures are those of a DeepSeek-V4-Flash class model on one node; what matters to the incidents is
their proportion (a decode step of tens of milliseconds, a prefill chunk of hundreds).
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import ConfigError

KV_BYTES_PER_TOKEN = 4_550  # c4 + c128 + index-K + SWA share, 43 layers, read once a step


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


def decode_s(hw: Hardware, rows: int, kv_tokens: int, captured: bool) -> float:
    """Seconds of a decode step of ``rows`` rows (padding included) over ``kv_tokens`` tokens."""
    launch = 0.0 if captured else hw.eager_launch_s
    kv = kv_tokens * KV_BYTES_PER_TOKEN / hw.hbm_bytes_per_s
    return hw.decode_base_s + launch + rows * hw.decode_row_s + kv
