"""Whether a page comes back from the host as it went. One rule: it digests device pages only.

What a copy did on the host is judged by what it brings back, so no byte of the host is trusted:

- ``page_changed_under_backup``: a device page is not, once its backup is acknowledged, what it was
  when it was copied: the copy ran before the page was finished;
- ``restored_page_differs``: a device page is not, after a load, what its backup copied.

The padding of a page row is no pool's data (a token-granular copy leaves it out) and is not read.

On a GPU digests stay there and are compared there: a copy that lands in a step waits for nothing.
What differs is asked for between steps: when a load is issued, a backup acknowledged, or by `poll`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from kernels.layout import LayerView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.events import EventLog
    from engine.pools.device import Pool
    from engine.shadow.host_watch import HostWatch, Stamp
    from kernels.ops import PageDigest

CHANGED, DIFFERS = "page_changed_under_backup", "restored_page_differs"
Digests = Tensor  # int64, one a layer of each pool


class Judged(NamedTuple):
    """(device, host) pages against what was expected of them: ``differs`` bool [pages, layers].

    ``stamp``: whose the device pages were then.
    """

    name: str
    pages: list[tuple[int, int]]
    differs: Tensor
    stamp: Stamp


class MirrorWatch:
    """Digests of device pages by the host page (of the anchor) that mirrors them."""

    def __init__(
        self, pools: Sequence[Pool], digest: PageDigest, events: EventLog, shadow: HostWatch
    ) -> None:
        self.events, self._digest, self._shadow = events, digest, shadow
        layers = [(pool.name, i, view) for pool in pools for i, view in enumerate(pool.layers)]
        self._views = [(name, i, unpadded(view)) for name, i, view in layers]
        self._copied: dict[int, Digests] = {}
        self._unread: list[Judged] = []
        self.deferred = pools[0].buffer.is_cuda
        events.count("pages_checked", 0)
        for pool in pools:
            events.count(f"restored_differs:{pool.name}", 0)

    def backed_up(self, device: Sequence[int], host: Sequence[int]) -> None:
        """Device pages were copied to host pages just now."""
        self._copied.update(zip(host, self._digests(device), strict=True))

    def settled(self, device: Sequence[int], host: Sequence[int]) -> None:
        """The backup of ``device`` to ``host`` was acknowledged."""
        self._compare(CHANGED, device, host, [self._copied.get(page) for page in host])
        self.poll()

    def expected(self, host: int) -> Digests | None:
        """What a load of the host page should bring back; None if nothing was copied there."""
        self.poll()
        return self._copied.get(host)

    def restored(
        self, device: Sequence[int], host: Sequence[int], expected: Sequence[Digests | None]
    ) -> None:
        """The last layer of a load has landed; ``expected`` is as it was at the load's issue."""
        self._compare(DIFFERS, device, host, expected)

    def poll(self) -> None:
        """Judge what was compared so far; waits for the device once, where there is anything."""
        unread, self._unread = self._unread, []
        if unread:
            rows = iter(torch.cat([each.differs for each in unread]).tolist())
            for each in unread:
                self._judge(each, [next(rows) for _ in each.pages])

    def _compare(
        self,
        name: str,
        device: Sequence[int],
        host: Sequence[int],
        expected: Sequence[Digests | None],
    ) -> None:
        """Hold the pages of which a backup is known against it."""
        rows = list(zip(device, host, expected, strict=True))
        pages = [(page, mirror) for page, mirror, then in rows if then is not None]
        if not pages:
            return
        self.events.count("pages_checked", len(pages))
        then = torch.stack([digests for digests in expected if digests is not None])
        differs = then != self._digests([page for page, _ in pages])
        stamp = self._shadow.stamp([page for page, _ in pages])
        self._unread.append(Judged(name, pages, differs, stamp))
        if not self.deferred:
            self.poll()

    def _judge(self, of: Judged, differs: Sequence[list[bool]]) -> None:
        """A violation of each pool in which a page ``differs``, by layer."""
        found: dict[str, list[int]] = {}
        for at, layers in enumerate(differs):
            named = zip(self._views, layers, strict=True)
            bad = [(pool, layer) for (pool, layer, _), differing in named if differing]
            for pool in dict.fromkeys(pool for pool, _ in bad):
                found.setdefault(pool, []).append(at)
            if of.name == DIFFERS:
                for pool, layer in bad:
                    self._shadow.damaged(pool, layer, of.stamp, at)
        for pool, places in found.items():
            if of.name == DIFFERS:
                self.events.count(f"restored_differs:{pool}", len(places))
            self._violation(of, pool, places)

    def _digests(self, pages: Sequence[int]) -> Tensor:
        """int64 [pages, layers]."""
        ids = torch.tensor(pages, dtype=torch.int64, device=self._views[0][2].pages.device)
        return torch.stack([self._digest(view, ids) for *_, view in self._views], dim=1)

    def _violation(self, of: Judged, pool: str, places: list[int]) -> None:
        page, host = of.pages[places[0]]
        about = self._shadow.about(pool, of.stamp, places[0])
        self.events.violation(of.name, n=len(places), pool=pool, page=page, host_page=host, **about)


def unpadded(view: LayerView) -> LayerView:
    """The view without the bytes between its last plane and its next page."""
    layout = replace(view.layout, row_align=1)
    return LayerView(layout, view.pages[:, : layout.page_bytes])
