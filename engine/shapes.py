"""The shapes of an engine, or of a pair, that does not exist: its pools in every tier, their sizes.

One rule: what is measured is built as ``engine.assembly`` would build it, seams included.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.defects import seams
from engine.disagg.pieces import layouts_of
from engine.disagg.sides import decode_config, prefill_config
from engine.events import EventLog
from engine.pools.device import REQUEST_ADDRESSED, allocate
from engine.pools.geometry import geometry, paired
from engine.pools.host_stack import HostQuestions, HostStack
from engine.runner.hot_buffer import HotBuffer, device_pages
from kernels.ops import Ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import EngineConfig
    from engine.pools.geometry import GeometryRow

BY_REQUEST = (REQUEST_ADDRESSED, "hisparse_hot")  # pools addressed by request slot, not by page


def geometry_of(config: EngineConfig) -> list[GeometryRow]:
    """The rows of an engine that does not exist: measured on a tiny one, with its page counts.

    Takes a few MiB. Host rows only where the configuration has a host tier. Of a pair, one rank of
    each side: the prefill side's device pools are ``device``, the decode side's ``decode``.
    """
    if not config.pd:
        return _measured(config)
    sides = prefill_config(config), decode_config(config)
    return paired(*map(_measured, sides))


def check_peers(config: EngineConfig) -> None:
    """Raises ``ConfigError`` where the two sides of a pair refuse each other's pools.

    What they would say on meeting, said before either exists. One engine has nobody to refuse.
    """
    if not config.pd:
        return
    build = seams(config.build)
    own, peer = (
        layouts_of(allocate(_tiny(side), build.index_k_buffer()))
        for side in (prefill_config(config), decode_config(config))
    )
    build.peer_layout().item_lens(own, peer)


def bytes_of(rows: Sequence[GeometryRow], ranks: int = 1) -> dict[str, int]:
    """Bytes that the pools of each tier take together, in all ranks: each has pools of its own."""
    taken: dict[str, int] = {}
    for row in rows:
        size = row.item_bytes * row.layers * row.pages * ranks
        taken[row.tier] = taken.get(row.tier, 0) + size
    return taken


class _Nobody:
    """Uses no page."""

    def stale_users(self, pages: Sequence[int]) -> list[tuple[str, int]]:
        return []


def _measured(config: EngineConfig) -> list[GeometryRow]:
    """The rows of one engine."""
    tiny = _tiny(config)
    build, ops, events = seams(config.build), Ops.reference(), EventLog(lambda: 0)
    pools, tokens = allocate(tiny, build.index_k_buffer()), build.token_transfer(ops)
    ask = HostQuestions(build.host_layout(), build.transfer_pieces(), tokens)
    host = HostStack(tiny, pools, ops, ask, events, _Nobody()) if config.hicache else None
    hot = HotBuffer(tiny, pools, ops, tokens, events) if config.hisparse else None
    return [replace(row, pages=_pages(row, config)) for row in geometry(pools, host, hot)]


def _tiny(config: EngineConfig) -> EngineConfig:
    """The same pools with as few pages and requests as there can be."""
    return replace(config, device="cpu", pool_pages=2, max_running=1, host_ratio=1.0)


def _pages(row: GeometryRow, config: EngineConfig) -> int:
    """Pages of a row in an engine of the full size."""
    if row.pool == REQUEST_ADDRESSED:
        return config.max_running + 1
    if row.pool == "hisparse_hot":
        return device_pages(config)
    mirror = row.tier == "host" and row.pool != "hisparse_c4"
    return 1 + (config.host_pages if mirror else config.pool_pages)
