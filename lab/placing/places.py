"""Where the probe reads what it says: for a token of a reply, the tokens that it copies.

One rule: pure; integers alone, and exactly what the model does. It goes on from the place, in the
text of the same entry, whose last ``WINDOW`` tokens are its own last ones; a symbol there is
believed before a hole. What else it reads are its own last tokens: their grams make the window.

A row is found by what it is a copy of, or by its distance. A block of other rows that stands in for
a reply's own loses what was there; and where its rows keep the positions of others, distances find
two rows in place of one, and read the mean of both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.probe.codes import GATHER, GRAM, HOLE, REF_GATHER, SYMBOLS, WINDOW
from engine.text.tokenizer import ASSISTANT

_HOLE = ord(HOLE)
_SYMBOLS = frozenset(ord(symbol) for symbol in SYMBOLS)

Rows = Callable[[int, int], list[range]]  # of a token, once so many rows are computed


@dataclass(frozen=True)
class Place:
    """What token ``index`` of a reply is made of; positions are of the whole context.

    ``sources`` are the tokens that it copies, all alike; ``made`` is whether they are holes, for
    which a symbol is made; ``window`` are the last tokens that it reads, half-open.
    """

    index: int
    sources: tuple[int, ...]
    made: bool
    window: tuple[int, int]


class Text:
    """A prompt with the reply that is due to it, as the model sees both."""

    def __init__(self, prompt: Sequence[int], due: Sequence[int]) -> None:
        self.prompt, self._ids = len(prompt), [*prompt, *due]
        self._seen = [_HOLE if token in _SYMBOLS else token for token in self._ids]
        self._anchors = [at for at, token in enumerate(self._ids) if token == ASSISTANT]
        self._after: dict[tuple[int, ...], list[int]] = {}
        for at in range(WINDOW, len(self._ids)):
            self._after.setdefault(tuple(self._seen[at - WINDOW : at]), []).append(at)

    def place(self, index: int) -> Place:
        """The place of token ``index`` of the reply."""
        at = self.prompt + index
        entry = self._entry(at - 1)
        found = [
            before
            for before in self._after.get(tuple(self._seen[at - WINDOW : at]), ())
            if before < at and self._entry(before) == entry
        ]
        symbols = [before for before in found if self._ids[before] in _SYMBOLS]
        made = bool(found) and not symbols and self._ids[found[0]] == _HOLE
        window = (max(0, at - 1 - GATHER[-1]), at)
        return Place(index, tuple(symbols or found), made, window)

    def places(self) -> Iterator[Place]:
        """The places of all tokens of the reply."""
        return (self.place(index) for index in range(len(self._ids) - self.prompt))

    def depends(self, first: int, end: int, computed: int) -> bool:
        """Whether the reply is lost where ``first`` to ``end`` are damaged once ``computed`` rows
        are there: a token is left without a source, or with its last tokens its window; or the
        reference is lost, which symbols are made of.
        """
        return self._misses(range(first, end), computed, self.rows)

    def looks_at(self, first: int, end: int, computed: int) -> bool:
        """Whether the reply is read from the positions ``first`` to ``end`` by their distance once
        ``computed`` rows are there: rows of others with these positions are read there too.
        """
        return self._misses(range(first, end), computed, self._looks)

    def rows(self, at: int, computed: int) -> list[range]:
        """What must be right for the token ``at`` to be found, once ``computed`` rows are there:
        its own row; of one that is computed later, what its window and its entry's are read from.
        """
        return [range(at, at + 1), *self._looks(at, computed)]

    def _looks(self, at: int, computed: int) -> list[range]:
        """Those of `rows` that are found by their distance."""
        anchor, rows = self._anchor(at), []
        if at >= computed:
            rows += [range(at - WINDOW, at), range(anchor, anchor + 1)]
        if anchor >= computed:
            rows.append(range(anchor + 1 - WINDOW, anchor + 1))
        return rows

    def _misses(self, damaged: range, computed: int, rows: Rows) -> bool:
        """Whether a token that is not yet said cannot be made where ``damaged`` is not right."""
        said = max(0, computed - self.prompt + 1)
        places = [self.place(at) for at in range(said, len(self._ids) - self.prompt)]
        for place in places:
            found = [rows(at, computed) for at in place.sources]
            gone = bool(found) and all(any(_meet(it, damaged) for it in some) for some in found)
            if gone or _meet(_grams(*place.window, computed), damaged):
                return True
        reads = [self.prompt - 1 - back for back in REF_GATHER]
        refs = [_grams(at, at + 1, computed) for at in reads]
        return any(place.made for place in places) and any(_meet(it, damaged) for it in refs)

    def _anchor(self, at: int) -> int:
        index = bisect_right(self._anchors, at) - 1
        return self._anchors[index] if index >= 0 else -1

    def _entry(self, at: int) -> tuple[int, ...]:
        """What tells the entry of a token: the window of the last place that asks for a reply."""
        anchor = self._anchor(at)
        return tuple(self._seen[max(0, anchor + 1 - WINDOW) : anchor + 1])


def _grams(first: int, end: int, computed: int) -> range:
    """The rows that the grams of rows ``first`` to ``end`` are read from: what is there has one."""
    return range(first - (GRAM - 1 if first >= computed else 0), end)


def _meet(one: range, other: range) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)
