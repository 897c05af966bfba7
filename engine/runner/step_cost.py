"""How long a step takes on named hardware. One rule: bytes over bandwidth, tokens over rate.

Only *time* is modelled: the bytes are really moved and the operations really run elsewhere. The
figures are those of a DeepSeek-V4-Flash class model on one node; what matters to the incidents is
their proportion (a decode step of tens of milliseconds, a prefill chunk of hundreds).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.config import PAGE_TOKENS
from engine.errors import ConfigError
from engine.pools import layouts

WINDOW = 128  # tokens
SWA_LAYERS, C4_LAYERS, C128_LAYERS = (layouts.FLASH_LAYERS[pool] for pool in ("swa", "c4", "c128"))


@dataclass(frozen=True)
class Hardware:
    """Rates of one node: bytes per second, tokens per second, seconds.

    The wire's figures are those of the network between two nodes. H200 nodes have 400 Gb/s RDMA
    NICs: 50 GB/s, of which the scattered writes of one transfer thread fill a quarter; a post takes
    10 us and a control message, TCP through a Python loop, 200 us. RTX PRO 6000 hosts are PCIe
    machines with 100 Gb/s between them: 12.5 GB/s, a thread that goes through host memory moves a
    fifth, 50 us and 500 us. ``h200-tcp`` are the first ones over sockets (``MC_FORCE_TCP``,
    ``UCX_TLS=tcp``): a thread is a core that copies, all of them fill a quarter of the NIC, and a
    post passes two kernels and the threads that serve them, 400 us. Nominal rates and round shares,
    not measurements.
    """

    hbm_bytes_per_s: float
    prefill_tokens_per_s: float
    decode_base_s: float  # weights read once, kernels launched by a graph
    decode_row_s: float
    eager_launch_s: float  # what launching kernel by kernel adds to a step
    wire_bytes_per_s: float  # what one transfer thread moves
    link_bytes_per_s: float  # what all of them together move
    wire_latency_s: float  # of a post, before its first byte
    control_latency_s: float  # of a message from one side to the other


H200 = Hardware(
    hbm_bytes_per_s=4.25e12,
    prefill_tokens_per_s=24_000.0,
    decode_base_s=0.011,
    decode_row_s=0.00012,
    eager_launch_s=0.009,
    wire_bytes_per_s=12e9,
    link_bytes_per_s=50e9,
    wire_latency_s=10e-6,
    control_latency_s=200e-6,
)
PRESETS: dict[str, Hardware] = {
    "h200": H200,
    "h200-tcp": replace(
        H200,
        wire_bytes_per_s=2e9,
        link_bytes_per_s=12.5e9,
        wire_latency_s=400e-6,
        control_latency_s=500e-6,
    ),
    "rtx-pro-6000": Hardware(
        hbm_bytes_per_s=1.6e12,
        prefill_tokens_per_s=9_000.0,
        decode_base_s=0.019,
        decode_row_s=0.00025,
        eager_launch_s=0.012,
        wire_bytes_per_s=2.5e9,
        link_bytes_per_s=12.5e9,
        wire_latency_s=50e-6,
        control_latency_s=500e-6,
    ),
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
