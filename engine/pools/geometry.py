"""What every pool looks like in every tier, measured on the pools that it is given.

One rule: a row states what is there, and ``agrees`` holds it against the device's own layout.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from engine.config import PAGE_TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.pools.device import DevicePools, Pool
    from engine.pools.host_stack import HostStack
    from kernels.layout import PageLayout


class Hot(Protocol):
    """A buffer that keeps some entries on the device, and its pool on the host."""

    @property
    def device(self) -> Pool: ...
    @property
    def host(self) -> Pool: ...


@dataclass(frozen=True)
class GeometryRow:
    """One pool in one tier. ``item_bytes`` is a page row of one layer; for a device pool, how far
    its pages really are apart. ``pages`` counts the reserved one.
    """

    pool: str
    tier: str  # "device" | "host" | "decode"
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
    """One row a pool of the device, then of the host, then of the hot buffer.

    Under HiSparse the device's c4 pool is as large as ever, a row of it here: production shrinks it
    to the hot buffer.
    """
    rows = [_device(pool) for pool in pools.pools]
    if host is not None:
        for pool in host.pools:
            agrees = replace(pool.layout, order=pool.device.layout.order) == pool.device.layout
            rows.append(_row(pool.name, "host", pool.layout, pool.rows, agrees))
    if hot is not None:
        c4 = pools.c4.layout
        for tier, own in (("device", hot.device), ("host", hot.host)):
            row = _device(own)
            alike = replace(own.layout, order=c4.order, layers=c4.layers) == c4
            rows.append(replace(row, tier=tier, agrees=row.agrees and alike))
    return rows


def paired(prefill: Sequence[GeometryRow], decode: Sequence[GeometryRow]) -> list[GeometryRow]:
    """The rows of two engines: the decode side's device becomes a tier of its own, ``decode``.

    A row of it agrees if the prefill side's pages of that pool are the same: what crosses the wire
    is addressed by the prefill's sizes.
    """
    sent = {row.pool: _shape(row) for row in prefill if row.tier == "device"}
    return [*prefill, *(_received(row, sent.get(row.pool)) for row in decode)]


def _received(row: GeometryRow, sent: tuple[int, ...] | None) -> GeometryRow:
    if row.tier != "device":
        return row
    return replace(row, tier="decode", agrees=row.agrees and sent in (None, _shape(row)))


def _shape(row: GeometryRow) -> tuple[int, ...]:
    return row.page_tokens, row.entries, row.item_bytes, row.layers


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
