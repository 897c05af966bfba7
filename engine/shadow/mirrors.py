"""Whether a page comes back from the host as it went. One rule: it digests device pages only.

What a copy did on the host is judged by what it brings back, so no byte of the host is trusted:

- ``page_changed_under_backup``: a device page is not, once its backup is acknowledged, what it was
  when it was copied: the copy ran before the page was finished;
- ``restored_page_differs``: a device page is not, after a load, what its backup copied.

The padding of a page row is no pool's data (a token-granular copy leaves it out) and is not read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from kernels.layout import LayerView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.events import EventLog
    from engine.pools.device import Pool
    from kernels.ops import PageDigest

Digests = tuple[int, ...]  # one a layer of each pool


class MirrorWatch:
    """Digests of device pages by the host page (of the anchor) that mirrors them."""

    def __init__(self, pools: Sequence[Pool], digest: PageDigest, events: EventLog) -> None:
        self.events, self._digest = events, digest
        self._views = [(pool.name, unpadded(view)) for pool in pools for view in pool.layers]
        self._copied: dict[int, Digests] = {}
        events.count("pages_checked", 0)
        for pool in pools:
            events.count(f"restored_differs:{pool.name}", 0)

    def backed_up(self, device: Sequence[int], host: Sequence[int]) -> None:
        """Device pages were copied to host pages just now."""
        self._copied.update(zip(host, self._digests(device), strict=True))

    def settled(self, device: Sequence[int], host: Sequence[int]) -> None:
        """The backup of ``device`` to ``host`` was acknowledged."""
        differing = self._differing(device, host, [self.expected(page) for page in host])
        for pool, pages in differing.items():
            self._violation("page_changed_under_backup", pool, pages)

    def expected(self, host: int) -> Digests | None:
        """What a load of the host page should bring back; None if nothing was copied there."""
        return self._copied.get(host)

    def restored(
        self, device: Sequence[int], host: Sequence[int], expected: Sequence[Digests | None]
    ) -> None:
        """The last layer of a load has landed; ``expected`` is as it was at the load's issue."""
        for pool, pages in self._differing(device, host, expected).items():
            self.events.count(f"restored_differs:{pool}", len(pages))
            self._violation("restored_page_differs", pool, pages)

    def _differing(
        self, device: Sequence[int], host: Sequence[int], expected: Sequence[Digests | None]
    ) -> dict[str, list[tuple[int, int]]]:
        """By pool, the (device, host) pages whose digest is not the expected one."""
        found: dict[str, list[tuple[int, int]]] = {}
        rows = zip(device, host, expected, self._digests(device), strict=True)
        for page, mirror, then, now in rows:
            if then is None:
                continue
            self.events.count("pages_checked")
            pairs = zip(self._views, then, now, strict=True)
            for pool in dict.fromkeys(name for (name, _), a, b in pairs if a != b):
                found.setdefault(pool, []).append((page, mirror))
        return found

    def _digests(self, pages: Sequence[int]) -> list[Digests]:
        ids = torch.tensor(pages, dtype=torch.int64, device=self._views[0][1].pages.device)
        table = torch.stack([self._digest(view, ids) for _, view in self._views], dim=1)
        return [tuple(row) for row in table.tolist()]

    def _violation(self, name: str, pool: str, pages: list[tuple[int, int]]) -> None:
        page, host = pages[0]
        self.events.violation(name, n=len(pages), pool=pool, page=page, host_page=host)


def unpadded(view: LayerView) -> LayerView:
    """The view without the bytes between its last plane and its next page."""
    layout = replace(view.layout, row_align=1)
    return LayerView(layout, view.pages[:, : layout.page_bytes])
