"""Pools of more than 2**31 bytes, or units of 16 bytes, of which only a few far pages are used.

Rule: each far page has a near twin in a small pool, where no address is large.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kernels.audit.check import NotRun, Setting
from kernels.layout import LayerView, PageLayout

GIB = 1 << 30
SCANNED = GIB  # bytes looked at together
SPARE = 4 * GIB  # what looking takes, and a margin


@dataclass(frozen=True)
class Far:
    """A large pool of zeros, the pages of it that are used, and a small pool that has only those.

    `ids` int64 [n]: pages before and after 2**31 bytes, 2**32, 2**34, 2**35 where there are as
    many, and the last ones.
    """

    view: LayerView
    near: LayerView
    ids: Tensor

    @classmethod
    def of(cls, s: Setting, layout: PageLayout, gib: int = 17) -> "Far":
        """3 GiB on a CPU, where memory that is not touched is not taken; else `gib`: 17 is past
        2**31 words of eight bytes, 40 past as many units of 16.
        """
        pages = (3 if s.device == "cpu" else gib) * GIB // layout.page_bytes
        beside = [n // layout.page_bytes for n in (1 << 31, 1 << 32, 1 << 34, 1 << 35)]
        ids = [page + i for page in beside for i in (-1, 0, 1) if page + 1 < pages - 3]
        ids += [pages - 2, pages - 1]
        view = LayerView(layout, zeros(s, pages, layout.page_bytes))
        near = layout.layer(layout.allocate(len(ids), s.device), 0)
        return cls(view, near, torch.tensor(ids, device=s.device))

    @property
    def gib(self) -> str:
        """The size of the large pool."""
        return f"{len(self.view.pages) * self.view.layout.page_bytes / GIB:.0f} GiB"

    def largest(self, unit: int) -> str:
        """The offset of the last page, in units of so many bytes."""
        last = int(self.ids[-1]) * self.view.layout.page_bytes // unit
        return f"the last begins at {last:,} units of {unit} bytes"

    def fill(self, rows: Tensor) -> None:
        """Puts the pages of uint8 `rows` [n, page_bytes] in both pools."""
        self.view.pages[self.ids] = rows
        self.near.pages.copy_(rows)

    def slots(self) -> tuple[Tensor, Tensor]:
        """int64 slots of every row of the used pages but of near page 0, far and near."""
        tokens = self.view.layout.page_tokens
        near = torch.arange(tokens, len(self.ids) * tokens, device=self.ids.device)
        return self.ids[near // tokens] * tokens + near % tokens, near

    def elsewhere(self) -> float:
        """How many bytes of the large pool are not zero in pages that are not used; on a CPU only
        where addresses of few bits would lead, for looking at memory would take it.
        """
        if self.view.pages.is_cuda:
            step = SCANNED // self.view.layout.page_bytes
            parts = (self.view.pages[i : i + step] for i in range(0, len(self.view.pages), step))
            inside = int(self.view.pages[self.ids].count_nonzero())
            return float(sum(int(part.count_nonzero()) for part in parts) - inside)
        last = len(self.view.pages)
        wrapped = [page for p in self.ids.tolist() for page in self._beside(p)]
        looked = sorted({page for page in wrapped if 0 <= page < last} - {*self.ids.tolist()})
        return float(self.view.pages[looked].count_nonzero())

    def _beside(self, page: int) -> list[int]:
        size = self.view.layout.page_bytes
        starts = [page * size % (1 << bits) // size for bits in (16, 31, 32)]
        return [start + i for start in (*starts, page) for i in (-1, 0, 1)]


def zeros(s: Setting, rows: int, width: int) -> Tensor:
    """uint8 zeros [rows, width]. Raises NotRun where there is no such memory."""
    size = rows * width
    if s.device != "cpu":
        if torch.cuda.mem_get_info()[0] < size + SPARE:
            raise NotRun(f"needs {-(-(size + SPARE) // GIB)} GiB of free device memory")
        return torch.zeros((rows, width), dtype=torch.uint8, device=s.device)
    try:  # torch.zeros writes them, numpy's are mapped where they are touched
        return torch.from_numpy(np.zeros((rows, width), dtype=np.uint8))
    except MemoryError as error:
        raise NotRun(f"needs {-(-size // GIB)} GiB of addresses, little of it touched") from error
