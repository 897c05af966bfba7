"""What every pool looks like in every tier, measured on the pools of the build itself.

One rule: a row states what is there, and ``agrees`` holds it against the device's own layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from engine.config import PAGE_TOKENS
from engine.defects import seams
from engine.events import EventLog
from engine.pools.device import allocate
from engine.pools.host_stack import HostQuestions, HostStack
from engine.runner.hot_buffer import HotBuffer, device_pages
from kernels.ops import Ops

if TYPE_CHECKING:
    from engine.config import EngineConfig
    from engine.pools.device import DevicePools, Pool
    from kernels.layout import PageLayout


class Hot(Protocol):
    """A buffer that keeps some entries on the device, and its pool on the host."""

    device: Pool
    host: Pool


@dataclass(frozen=True)
class GeometryRow:
    """One pool in one tier. ``item_bytes`` is a page row of one layer; for a device pool, how far
    its pages really are apart. ``pages`` counts the reserved one.
    """

    pool: str
    tier: str
    order: str
    page_tokens: int
    entries: int
    item_bytes: int
    layers: int
    pages: int
    agrees: bool

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON-ready values."""
        return asdict(self)


def geometry(
    pools: DevicePools, host: HostStack | None = None, hot: Hot | None = None
) -> list[GeometryRow]:
    """One row a pool of the device, then of the host, then of the hot buffer."""
    rows = [_device(pool) for pool in pools.pools]
    if host is not None:
        for pool in host.pools:
            agrees = replace(pool.layout, order=pool.device.layout.order) == pool.device.layout
            rows.append(_row(pool.name, "host", pool.layout, pool.rows, agrees))
    if hot is not None:
        alike = hot.host.layout == hot.device.layout
        rows += [_device(hot.device), replace(_device(hot.host), tier="host", agrees=alike)]
    return rows


def geometry_of(config: EngineConfig) -> list[GeometryRow]:
    """The rows of an engine that does not exist: measured on a tiny one, with its page counts.

    Takes a few MiB. Host rows only where the configuration has a host tier.
    """
    tiny = replace(config, device="cpu", pool_pages=2, max_running=1, host_ratio=1.0)
    build, ops, events = seams(config.build), Ops.reference(), EventLog(lambda: 0)
    pools, tokens = allocate(tiny, build.index_k_buffer()), build.token_transfer(ops)
    ask = HostQuestions(build.host_layout(), build.transfer_pieces(), tokens)
    host = HostStack(tiny, pools, ops, ask, events, _Nobody()) if config.hicache else None
    hot = HotBuffer(tiny, pools, ops, tokens, events) if config.hisparse else None
    return [replace(row, pages=_pages(row, config)) for row in geometry(pools, host, hot)]


class _Nobody:
    """Uses no page."""

    def stale_users(self, pages: Sequence[int]) -> list[tuple[str, int]]:
        return []


def _device(pool: Pool) -> GeometryRow:
    """A pool that a builder placed: the distance between its pages is measured, not computed."""
    pages = pool.layers[0].pages
    apart = pages.stride(0)
    agrees = apart == pool.layout.page_bytes
    row = _row(pool.name, "device", pool.layout, len(pages), agrees)
    return replace(row, item_bytes=apart)


def _row(name: str, tier: str, layout: PageLayout, pages: int, agrees: bool) -> GeometryRow:
    return GeometryRow(
        pool=name,
        tier=tier,
        order=layout.order.value,
        page_tokens=PAGE_TOKENS,
        entries=layout.page_tokens,
        item_bytes=layout.page_bytes,
        layers=layout.layers,
        pages=pages,
        agrees=agrees,
    )


def _pages(row: GeometryRow, config: EngineConfig) -> int:
    """Pages of a row in an engine of the full size."""
    if row.pool == "c128_state":
        return config.max_running + 1
    if row.pool == "hisparse_hot":
        return device_pages(config)
    mirror = row.tier == "host" and row.pool != "hisparse_c4"
    return 1 + (int(config.pool_pages * config.host_ratio) if mirror else config.pool_pages)
