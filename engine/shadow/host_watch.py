"""What a host tier tells of itself, and what it is told of pages. One rule: this one hears nothing.

`engine.shadow.host_edges` is the one that listens; an engine without a shadow memory has this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from engine.cache.tiers import HostPage
    from engine.events import Field
    from engine.shadow.clocks import Clock

    Pages = NDArray[np.int64]

WINDOW = "swa"  # the pool whose host pages have numbers of their own


class Numbers(NamedTuple):
    """Something of each host page in either of its numberings (`HostPage`), int64 [n]."""

    anchor: Pages
    swa: Pages

    def of(self, pool: str) -> Pages:
        """Those by which a pool is addressed."""
        return self.swa if pool == WINDOW else self.anchor


class PageCopy(NamedTuple):
    """A copy from its issue on. ``known[i]`` is what whoever waits for stage i knows."""

    op: int  # by which the books of pages know it
    name: str
    device: Pages
    host: Numbers
    meant: Numbers  # the host pages' generations at the issue
    known: list[Clock]
    landed: set[int]  # stages whose bytes have moved


class Stamp(NamedTuple):
    """Device pages as they are at one moment: what is judged later is judged of these."""

    pages: Pages
    generation: Pages
    writers: dict[tuple[str, int], tuple[Pages, Pages]]  # of a pool's layer: operations, lanes


_NONE = np.zeros(0, dtype=np.int64)
NO_COPY = PageCopy(0, "", _NONE, Numbers(_NONE, _NONE), Numbers(_NONE, _NONE), [], set())
NO_STAMP = Stamp(_NONE, _NONE, {})


class HostWatch:
    """Hears of the copies of a host tier."""

    def taken(self, pages: Sequence[HostPage]) -> None:
        """Host pages were handed out."""

    def freed(self, pages: Sequence[HostPage]) -> None:
        """Host pages were given back."""

    def backup(self, device: Sequence[int], host: Sequence[HostPage]) -> PageCopy:
        """The host issues a copy of device pages to host pages, one for one."""
        return NO_COPY

    def backed_up(self, copy: PageCopy) -> None:
        """The bytes of a backup have moved."""

    def settled(self, device: Sequence[int], host: Sequence[HostPage]) -> None:
        """The host acknowledges a backup of device pages to host pages."""

    def load(self, host: Sequence[HostPage], device: Sequence[int], stages: int) -> PageCopy:
        """The host issues a copy of host pages to device pages, one for one."""
        return NO_COPY

    def landed(self, copy: PageCopy, stage: int, pools: Iterable[tuple[str, int]]) -> None:
        """The bytes of a load's stage have moved: of each of ``pools``, one of its layers."""

    def loaded(self, device: Sequence[int]) -> None:
        """The host acknowledges the loads that filled these pages."""

    def loads_into(self, device: Iterable[int]) -> list[PageCopy]:
        """The loads not acknowledged that fill any of these pages."""
        return []

    def reader(self, pages: Sequence[int]) -> None:
        """The next getters are those of a step's reader of prefix ``pages``; of none, without."""

    def read(self, pool: str, layer: int) -> None:
        """A getter hands a pool out at a layer of the model."""

    def waited(self, loads: Iterable[PageCopy], layer: int) -> None:
        """A getter has waited for a layer of these loads: the step knows of it."""

    def stamp(self, device: Sequence[int]) -> Stamp:
        """Device pages as they are now."""
        return NO_STAMP

    def damaged(self, pool: str, layer: int, stamp: Stamp, at: int) -> None:
        """By its bytes, the restored device page number ``at`` was not as its backup was."""

    def about(self, pool: str, stamp: Stamp, at: int) -> dict[str, Field]:
        """What is known of device page number ``at`` in a pool, and of who wrote it last by then;
        fields of events.
        """
        return {}

    def about_host(self, anchor: int) -> dict[str, Field]:
        """What is known of a host page's last writer; fields of events."""
        return {}

    def about_loads(self, loads: Sequence[PageCopy], reader: str = "") -> dict[str, Field]:
        """What is known of loads for which ``reader`` did not wait; fields of events."""
        return {}
