"""Where the probe reads what it says: for a token of a reply, the tokens that it copies.

One rule: pure; integers alone, and exactly what the model does. It goes on from the place, in the
text of the same entry, whose last ``WINDOW`` tokens are its own last ones; a symbol there is
believed before a hole. What else it reads are its own last tokens: their grams make the window.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.probe.codes import GATHER, HOLE, REF_GATHER, SYMBOLS, WINDOW
from engine.text.tokenizer import ASSISTANT

_HOLE = ord(HOLE)
_SYMBOLS = frozenset(ord(symbol) for symbol in SYMBOLS)


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

    def hangs_on(self, first: int, end: int) -> bool:
        """Whether all of its sources, one at least, lie in ``first`` to ``end``."""
        return bool(self.sources) and all(first <= at < end for at in self.sources)


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

    def depends(self, first: int, end: int, index: int = 0) -> bool:
        """Whether the reply, from its token ``index`` on, is lost without these rows of its prompt:
        they are the only source of a token, among its last tokens, or part of its reference.
        """
        places = [self.place(at) for at in range(index, len(self._ids) - self.prompt)]
        if any(place.hangs_on(first, end) for place in places):
            return True
        if any(max(first, place.window[0]) < min(end, place.window[1]) for place in places):
            return True
        reads = [self.prompt - 1 - back for back in REF_GATHER]
        return any(place.made for place in places) and any(first <= at < end for at in reads)

    def _entry(self, at: int) -> tuple[int, ...]:
        """What tells the entry of a token: the window of the last place that asks for a reply."""
        index = bisect_right(self._anchors, at) - 1
        anchor = self._anchors[index] if index >= 0 else -1
        return tuple(self._seen[max(0, anchor + 1 - WINDOW) : anchor + 1])
