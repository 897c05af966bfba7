"""Two sides of small regions, joined by a wire."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine import clock
from engine.disagg.wire import PostState, Region, Wire, Write

ITEMS, LEN, LAYERS = 8, 48, 2


class Joined:
    """``source`` and ``target``: uint8 [ITEMS * LEN] a layer; only the target is 0."""

    def __init__(self, wire: Wire, device: str = "cpu") -> None:
        self.wire, self.device = wire, device
        draw = torch.Generator().manual_seed(0)
        size = (ITEMS * LEN,)
        self.source = [
            torch.randint(1, 256, size, dtype=torch.uint8, generator=draw).to(device)
            for _ in range(LAYERS)
        ]
        self.target = [torch.zeros(size, dtype=torch.uint8, device=device) for _ in range(LAYERS)]
        wire.register("prefill", [Region("c4", i, m, LEN) for i, m in enumerate(self.source)])
        wire.register("decode", [Region("c4", i, m, LEN) for i, m in enumerate(self.target)])

    def land(self, writes: Sequence[Write], note: str = "") -> None:
        """Post and let it arrive."""

        async def main() -> PostState:
            return self.wire.poll(self.wire.post(1, writes, note, 0.0))

        assert clock.run(main()) is PostState.DONE

    def item(self, layer: int, item: int) -> Tensor:
        """An item of the source."""
        return self.source[layer][item * LEN : (item + 1) * LEN]

    def came_from(self, layer: int, item: int) -> int | None:
        """Which item of the source an item of the target equals."""
        rows = self.source[layer].view(ITEMS, LEN)
        same = (rows == self.target[layer].view(ITEMS, LEN)[item]).all(1).nonzero()
        return int(same[0]) if len(same) else None

    def untouched(self, layer: int | None = None) -> bool:
        """Whether the target, or a layer of it, is as it was."""
        layers = self.target if layer is None else [self.target[layer]]
        return not any(bool(memory.any()) for memory in layers)
