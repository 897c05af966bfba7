"""What an engine is told before it starts. One rule: frozen, complete, and printed as it is."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

from engine.errors import ConfigError

PAGE_TOKENS = 256  # production hard-codes system pages of 256 tokens
C4_RATIO, C128_RATIO = 4, 128  # raw tokens per compressed entry
LONGEST_CONTEXT = 8192  # tokens; the constructed model tells no more places apart
# what each io backend can copy; SGLang raises on the rest
HOST_COPIES = {
    "kernel": ("layer_first", "page_first"),
    "direct": ("layer_first", "page_first_direct"),
}
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
                f"page size, from {PAGE_TOKENS} to {LONGEST_CONTEXT}",
                ("max_context",),
            )
        if self.compress_ratios != SHAPE:
            raise ConfigError(
                f"compress_ratios is {self.compress_ratios}; it must be {SHAPE}: "
                "the constructed model has this shape",
                ("compress_ratios",),
            )


@dataclass(frozen=True)
class EngineConfig:
    """One engine. Field names are the toggle keys that an operator could flip.

    ``build`` names the defects that the code under test contains; only the assembly of an engine,
    built or measured, reads it. ``graph_max_bs`` and ``max_running`` count rows,
    ``chunked_prefill`` tokens, ``pool_pages`` pages of 256 tokens. ``host_ratio`` is host pages
    over device pages, ``host_gb_per_s`` the rate of the link between them (PCIe 5, pinned: 55
    measured), ``hicache_slot_page`` the tokens whose copies are cut into whole page rows, and
    ``hisparse_buffer`` the c4 entries that a request keeps on the device, beside its newest 64.
    ``logits_width`` is how many c4 entries wide the indexer's logits of a row are laid out (0: as
    the longest context needs).

    ``ledger`` is how closely the shadow memory looks: ``off`` not at all (digests of copies between
    tiers and of rooms are taken all the same), ``tags`` at who wrote the rows that are read,
    ``full`` at their bytes as well. It changes nothing that is served.

    With ``pd`` there are two engines, prefill and decode, of ``tp`` ranks each. ``queue_size`` is
    the number of transfer queues, each with a thread of its own: a larger one adds threads.
    ``workers`` beyond the number of queues are shared out among them; ``wire_gb_per_s`` is what one
    thread moves (0: what the hardware gives). Timeouts are seconds, ``decode_pool_pages`` and
    ``metadata_slots`` sizes of the decode side (0: as many pages as the prefill side, 2 slots a
    running request).
    """

    index_k: Literal["fp8", "bf16"] = "fp8"
    radix: bool = True
    graph: bool = True
    graph_max_bs: int = 64
    overlap: bool = False
    topk: Literal["v1", "v2"] = "v1"
    logits_width: int = 0
    chunked_prefill: int = 2048
    pool_pages: int = 1024
    allocator: Literal["lifo", "fifo", "random"] = "lifo"
    max_running: int = 64
    stream_interval: int = 1
    poison_free_pages: bool = False
    ledger: Literal["off", "tags", "full"] = "tags"
    hicache: bool = False
    hicache_layout: Literal["layer_first", "page_first", "page_first_direct"] = "layer_first"
    hicache_io: Literal["kernel", "direct"] = "kernel"
    hicache_write: Literal["write_through", "write_through_selective", "write_back"] = (
        "write_through"
    )
    hicache_slot_page: int = PAGE_TOKENS
    host_ratio: float = 2.0
    host_strategy: Literal["v4", "dsa"] = "v4"
    host_gb_per_s: float = 55.0
    hisparse: bool = False
    hisparse_buffer: int = 128
    pd: bool = False
    wire: Literal["inproc", "nixl"] = "inproc"
    workers: int = 8
    queue_size: int = 4
    wire_gb_per_s: float = 0.0
    bootstrap_timeout: float = 300.0
    waiting_timeout: float = 300.0
    deferred_release: bool = False
    metadata_slots: int = 0
    decode_pool_pages: int = 0
    decode_index_k: Literal["same", "fp8", "bf16"] = "same"
    tp: int = 1
    hardware: str = "h200"
    device: str = "cpu"
    seed: int = 0
    build: tuple[str, ...] = ()
    model: ModelConfig = field(default_factory=ModelConfig)

    def __post_init__(self) -> None:
        if self.chunked_prefill <= 0 or self.chunked_prefill % PAGE_TOKENS:
            raise ConfigError(
                f"chunked_prefill is {self.chunked_prefill}; it must be a positive multiple of "
                f"{PAGE_TOKENS}, the page size",
                ("chunked_prefill",),
            )
        _at_least(self, "graph_max_bs", 1)
        _at_least(self, "max_running", 1)
        _at_least(self, "stream_interval", 1)
        _at_least(self, "pool_pages", 2)
        _logits(self)
        _literals(self)
        _host(self)
        _disaggregated(self)
        if not re.fullmatch(r"cpu|cuda(:[0-9]+)?", self.device):
            said = f"device is {self.device!r}; accepted: cpu, cuda, cuda:<number>"
            raise ConfigError(said, ("device",))

    @property
    def host_pages(self) -> int:
        """Pages of the host tier, the reserved one not counted."""
        return round(self.pool_pages * self.host_ratio)

    @property
    def host_bytes_per_s(self) -> float:
        """The rate of the link, each way; links are rated in powers of ten."""
        return self.host_gb_per_s * 1e9

    @property
    def ranks(self) -> int:
        """Engines a side; one engine that is no pair is one rank."""
        return self.tp if self.pd else 1

    def as_dict(self) -> dict[str, Any]:
        """The configuration as JSON-ready values: what `/server_info` answers."""
        return asdict(self)


def _literals(config: EngineConfig) -> None:
    """Every field whose type lists its values holds one of them."""
    for name, hint in get_type_hints(type(config)).items():
        value = getattr(config, name)
        if get_origin(hint) is Literal and value not in get_args(hint):
            accepted = ", ".join(map(str, get_args(hint)))
            raise ConfigError(f"{name} is {value!r}; accepted: {accepted}", (name,))


def _logits(config: EngineConfig) -> None:
    """A row of logits holds an entry for whatever a context can hold."""
    least = config.model.max_context // C4_RATIO
    if config.logits_width and config.logits_width < least:
        raise ConfigError(
            f"logits_width is {config.logits_width}; it must be 0 or at least {least}, the entries "
            f"of a context of {config.model.max_context} tokens",
            ("logits_width", "max_context"),
        )


def _host(config: EngineConfig) -> None:
    """What the host tiers can be built with; SGLang refuses the same combinations."""
    if config.hicache and not config.radix:
        said = "hicache is on and radix off; the host tier mirrors the prefix cache"
        raise ConfigError(said, ("hicache", "radix"))
    if not math.isfinite(config.host_ratio) or config.host_ratio < 1:
        said = f"host_ratio is {config.host_ratio}; it must be at least 1"
        raise ConfigError(said, ("host_ratio",))
    if not math.isfinite(config.host_gb_per_s) or config.host_gb_per_s <= 0:
        said = f"host_gb_per_s is {config.host_gb_per_s}; it must be above 0"
        raise ConfigError(said, ("host_gb_per_s",))
    layouts = HOST_COPIES[config.hicache_io]
    if config.hicache_layout not in layouts:
        raise ConfigError(
            f"hicache_layout is {config.hicache_layout!r}; hicache_io {config.hicache_io!r} "
            f"copies {' and '.join(layouts)} only",
            ("hicache_layout", "hicache_io"),
        )
    slot = config.hicache_slot_page
    if slot not in (C128_RATIO, PAGE_TOKENS):
        raise ConfigError(
            f"hicache_slot_page is {slot}; it must divide the page of {PAGE_TOKENS} tokens into "
            f"whole c128 entries: {C128_RATIO} or {PAGE_TOKENS}",
            ("hicache_slot_page",),
        )
    if config.hisparse and config.hisparse_buffer < config.model.index_topk:
        raise ConfigError(
            f"hisparse_buffer is {config.hisparse_buffer} entries; one step reads "
            f"{config.model.index_topk} (index_topk)",
            ("hisparse_buffer", "hisparse", "index_topk"),
        )


def _disaggregated(config: EngineConfig) -> None:
    """What a pair of engines can be built with."""
    for name in ("workers", "queue_size", "tp"):
        _at_least(config, name, 1)
    for name in ("metadata_slots", "decode_pool_pages"):
        _at_least(config, name, 0)
    if config.decode_pool_pages == 1:
        raise ConfigError(
            "decode_pool_pages is 1; it must be 0 or at least 2", ("decode_pool_pages",)
        )
    if not math.isfinite(config.wire_gb_per_s) or config.wire_gb_per_s < 0:
        said = f"wire_gb_per_s is {config.wire_gb_per_s}; it must be 0 or above"
        raise ConfigError(said, ("wire_gb_per_s",))
    if config.pd and config.wire == "nixl" and config.device != "cpu":
        raise ConfigError(
            f"wire is 'nixl' and device {config.device!r}; the nixl wire registers memory of the "
            "host only: device cpu, or wire inproc",
            ("wire", "device", "pd"),
        )
    for name in ("bootstrap_timeout", "waiting_timeout"):
        value = getattr(config, name)
        if not math.isfinite(value) or value <= 0:
            raise ConfigError(f"{name} is {value} s; it must be above 0", (name,))


def _at_least(config: EngineConfig | ModelConfig, name: str, least: int) -> None:
    value = getattr(config, name)
    if value < least:
        raise ConfigError(f"{name} is {value}; it must be at least {least}", (name,))
