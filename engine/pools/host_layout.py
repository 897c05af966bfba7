"""How the host lays out a device pool's mirror. One rule: its rows are the device's rows.

Two strategies, as two model families build their pools in SGLang: ``v4`` asks the device buffer for
the size of a page row, ``dsa`` computes it from the dtype of the index keys.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import torch

from engine.pools import layouts

if TYPE_CHECKING:
    from kernels.layout import Order, PageLayout


class HostLayout(Protocol):
    """Seam ``host_layout``: what does a page row of the host's mirror look like?"""

    def of(self, name: str, device: PageLayout, order: Order, strategy: str) -> PageLayout:
        """The mirror of pool ``name``, whose device rows are ``device``, nested by ``order``."""
        ...


class LikeDevice:
    """The mirror's planes are the device's, by either strategy; only the nesting differs."""

    def of(self, name: str, device: PageLayout, order: Order, strategy: str) -> PageLayout:
        """The mirror of pool ``name``, whose device rows are ``device``, nested by ``order``."""
        if strategy == "dsa" and name == "index_k":
            return replace(self.by_dtype(device), order=order)
        return replace(device, order=order)

    def by_dtype(self, device: PageLayout) -> PageLayout:
        """Index keys as the older family sizes them: by the dtype of this pool's values."""
        stored = device.named("value").dtype
        return layouts.index_k("bf16" if stored == torch.bfloat16 else "fp8", device.layers)
