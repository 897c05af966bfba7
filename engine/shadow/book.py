"""What became of each page: taken, freed, copied from, copied into; and whether that was in order.

One rule: an access is in order when whoever did the last unlike access to the page is known, by a
chain of waits, to be through (`engine.shadow.clocks`); being later is not enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from engine.shadow.clocks import knew

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engine.shadow.clocks import Clock, VectorClocks
    from engine.shadow.operations import OperationLog

State = Literal[
    "FREE", "ALLOCATED", "WRITING", "VALID", "IN_FLIGHT_OUT", "IN_FLIGHT_IN", "QUARANTINE"
]


class Unordered(NamedTuple):
    """Two accesses to a page with no wait between them: operations by number, ``later`` now."""

    page: int
    earlier: int
    later: int


class PageBook:
    """The pages 0..``pages`` of one pool of pages, device or host; page 0 is reserved."""

    def __init__(self, pages: int, log: OperationLog, clocks: VectorClocks) -> None:
        self._log, self._clocks = log, clocks
        self.generation = np.zeros(pages + 1, dtype=np.int64)  # how often each was taken
        self.held = np.zeros(pages + 1, dtype=bool)
        self.since = np.zeros(pages + 1, dtype=np.int64)  # the first operation that is its owner's
        self.version = np.zeros(pages + 1, dtype=np.int64)  # grows with what readers must look at
        self.wrote = np.zeros(pages + 1, dtype=np.int64)  # operation that wrote there last
        self.copies_out = np.zeros(pages + 1, dtype=np.int64)  # copies under way from the page
        self.copies_in = np.zeros(pages + 1, dtype=np.int64)
        self.copy_in = np.zeros(pages + 1, dtype=np.int64)  # operation of the last of them to begin
        self.withheld = np.zeros(pages + 1, dtype=bool)  # held back until a writer is through
        self._read = np.zeros((1, pages + 1), dtype=np.int64)  # stream -> operation, the last
        self._freed: dict[int, tuple[int, str]] = {}  # page -> when, and whose it was
        self._told: set[tuple[int | str, ...]] = set()
        self._ticks = 0

    def touch(self, pages: Sequence[int] | NDArray[np.int64]) -> None:
        """Whoever reads these pages must look at their rows again."""
        self._ticks += 1
        self.version[pages] = self._ticks

    def taken(self, pages: Sequence[int]) -> None:
        """Pages were handed out; what is still in them is nobody's."""
        self.touch(pages)
        self.generation[pages] += 1
        self.held[pages] = True
        self.since[pages] = len(self._log)

    def freed(self, pages: Sequence[int], at_us: int, by: str) -> None:
        """Pages were given back by whoever had them."""
        self.touch(pages)
        self.held[pages] = self.withheld[pages] = False
        for page in pages:
            self._freed[page] = (at_us, by)

    def coming(self, op: int, pages: NDArray[np.int64]) -> None:
        """A copy into pages is under way from now on."""
        np.add.at(self.copies_in, pages, 1)
        self.copy_in[pages] = op

    def came(self, pages: NDArray[np.int64]) -> None:
        """A copy into pages is over."""
        np.add.at(self.copies_in, pages, -1)

    def untold(self, name: str, page: int, *who: int) -> bool:
        """Whether this is the first time that a finding is told of a page and of ``who``, since
        the page was handed out.
        """
        finding: tuple[int | str, ...] = (name, page, int(self.generation[page]), *who)
        if finding in self._told:
            return False
        self._told.add(finding)
        return True

    def state(self, page: int, running: int = 0) -> State:
        """What a page is now; operation ``running`` is under way (0: none is)."""
        if not self.held[page]:
            return "FREE"
        if self.withheld[page]:
            return "QUARANTINE"
        if self.copies_in[page]:
            return "IN_FLIGHT_IN"
        if self.copies_out[page]:
            return "IN_FLIGHT_OUT"
        if self.wrote[page] < self.since[page]:
            return "ALLOCATED"
        return "WRITING" if running and self.wrote[page] == running else "VALID"

    def last_freed(self, page: int) -> str:
        """When the page was given back last, and by whom: a clause; empty if it never was."""
        if page not in self._freed:
            return ""
        at_us, owner = self._freed[page]
        return f"freed at {at_us} us by {owner}"

    def reads(self, op: int, pages: Sequence[int] | NDArray[np.int64]) -> list[Unordered]:
        """An operation reads pages: those whose last write it has not waited for."""
        at = np.asarray(pages, dtype=np.int64)
        found = self._behind(op, at, self.wrote[at][None])
        self.read(op, pages)
        return found

    def read(self, op: int, pages: Sequence[int] | NDArray[np.int64]) -> None:
        """An operation reads pages whose last write is known to be one that it has waited for."""
        stream = self._log[op].stream
        if stream >= len(self._read):
            self._read = np.pad(self._read, ((0, stream + 1 - len(self._read)), (0, 0)))
        self._read[stream, pages] = op

    def writes(self, op: int, pages: Sequence[int] | NDArray[np.int64]) -> list[Unordered]:
        """An operation writes pages: those whose last write, or reads, it has not waited for."""
        at = np.asarray(pages, dtype=np.int64)
        found = self._behind(op, at, np.vstack([self.wrote[at], self._read[:, at]]))
        self.wrote[at] = op
        return found

    def written_under(self, op: int, pages: NDArray[np.int64], known: Clock) -> list[Unordered]:
        """A copy out of pages moves its bytes: those written since it knew ``known``."""
        return self._behind(op, pages, self.wrote[pages][None], known)

    def read_under(self, op: int, pages: NDArray[np.int64], known: Clock) -> list[Unordered]:
        """A copy into pages moves its bytes: those read since it knew ``known``."""
        return self._behind(op, pages, self._read[:, pages], known)

    def _behind(
        self,
        op: int,
        pages: NDArray[np.int64],
        earlier: NDArray[np.int64],
        known: Clock | None = None,
    ) -> list[Unordered]:
        """The pages [n] of which an operation in ``earlier`` [k, n] is not known to be over: by
        what ``op`` knew, or by what its stream knows now.
        """
        mine, streams = self._log[op].stream, self._log.streams[earlier]
        epochs = self._log.epochs[earlier]
        if known is None:
            heard = self._clocks.knows(mine, streams, epochs)
        else:
            heard = knew(known, streams, epochs)
        late = ~heard & (streams != mine)
        if not late.any():
            return []
        which, at = np.nonzero(late)
        pairs = zip(pages[at].tolist(), earlier[which, at].tolist(), strict=True)
        return [Unordered(page, number, op) for page, number in pairs]
