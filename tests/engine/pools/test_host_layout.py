"""A mirror's rows are the device's, by either strategy."""

from __future__ import annotations

import pytest

from engine.pools import layouts
from engine.pools.host_layout import LikeDevice
from kernels.layout import Order, PageLayout

POOLS = {
    "swa": layouts.swa(4),
    "c4": layouts.c4(1),
    "index_k": layouts.index_k("bf16", 1),
    "c128": layouts.c128(1),
    "c4_state": layouts.c4_state(1),
    "index_state": layouts.index_state(1),
}


@pytest.mark.parametrize("strategy", ["v4", "dsa"])
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("pool", POOLS)
def test_planes_and_sizes_are_the_device_s(pool: str, order: Order, strategy: str) -> None:
    device = POOLS[pool]
    host = LikeDevice().of(pool, device, order, strategy)
    assert (host.planes, host.page_bytes, host.layers) == (
        device.planes,
        device.page_bytes,
        device.layers,
    )
    assert host.order is order


@pytest.mark.parametrize("dtype", ["fp8", "bf16"])
def test_the_older_strategy_computes_the_same_row(dtype: str) -> None:
    device: PageLayout = layouts.index_k(dtype, 3)
    answers = [LikeDevice().of("index_k", device, Order.PAGE_FIRST, s) for s in ("v4", "dsa")]
    assert answers[0] == answers[1]
