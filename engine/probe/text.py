"""What a text must look like for the probe to be exact on it. One rule: constraints are code.

The manual is the constructed model's (`engine.scribe.manual`: functions, rules, the shape of a
reply), with three differences. Words are of ``NONCE_ALPHABET``; the second value of an entry is a
run of ``HOLE``, where the model writes symbols of its own that depend on who asks; and every turn
ends with the line of ``request``, whose reference is what they depend on. ``flaws`` says of a whole
conversation whether the probe is exact on it:

* places that ask for a reply lie ``APART`` or more tokens apart, and a reply ends ``NEAR`` or fewer
  behind its own;
* wherever the same key was asked for, what follows the same ``WINDOW`` tokens is the same token. A
  hole and a symbol look alike to the model, and the symbol wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.probe.codes import HOLE, NONCE_ALPHABET, REF_LENGTH, SYMBOLS, WINDOW
from engine.probe.kernels import APART, NEAR
from engine.scribe import manual
from engine.text.tokenizer import ASSISTANT, EOS, SPELLING

HOLES = (15, 20)  # fewest and most in a run: two tokens before it stay in the window
_SAME = {ord(symbol): ord(HOLE) for symbol in SYMBOLS}  # one code for the model


@dataclass(frozen=True)
class Entry:
    """One entry of a manual: to ``key``, a call with ``value`` and with ``holes`` symbols.

    Raises ``ValueError`` for words of another alphabet or length.
    """

    key: str
    function: manual.Function
    value: str
    holes: int

    def __post_init__(self) -> None:
        low, high = manual.VALUE_LENGTHS
        _word("key", self.key, manual.KEY_LENGTH, manual.KEY_LENGTH)
        _word("value", self.value, low, high)
        if not HOLES[0] <= self.holes <= HOLES[1]:
            raise ValueError(f"holes: {self.holes}; accepted: {HOLES[0]} to {HOLES[1]}")

    @property
    def reply(self) -> str:
        """The reply that it spells out, holes included, without the final EOS."""
        return manual.reply(self.key, self.function, (self.value, HOLE * self.holes))

    @property
    def text(self) -> str:
        """The entry as a manual has it."""
        body = manual.key_line(self.key) + SPELLING[ASSISTANT] + self.reply + SPELLING[EOS]
        return f"\n## {self.function.name}\n{body}"


def request(ref: str, key: str) -> str:
    """The text right before the assistant's token in every turn; raises ``ValueError``."""
    _word("ref", ref, REF_LENGTH, REF_LENGTH)
    return f'{{"ref":"{ref}","key":"{key}"}}'


def first_turn(ref: str, key: str) -> str:
    """The first user message of a session."""
    return f"Follow the manual. {request(ref, key)}"


def later_turn(ref: str, key: str) -> str:
    """A message of every later turn: what a tool has answered, and the key of the next step."""
    return f'{{"status":"ok",{request(ref, key)[1:]}'


def flaws(ids: Sequence[int]) -> list[str]:
    """Why the probe is not exact on a conversation, its replies included; empty where it is."""
    anchors = [at for at, token in enumerate(ids) if token == ASSISTANT]
    return [*_apart(ids, anchors), *_ambiguous([_SAME.get(it, it) for it in ids], ids, anchors)]


def _word(what: str, word: str, low: int, high: int) -> None:
    if not low <= len(word) <= high or set(word) - set(NONCE_ALPHABET):
        raise ValueError(f"{what}: {word!r}; accepted: {low} to {high} letters of {NONCE_ALPHABET}")


def _apart(ids: Sequence[int], anchors: Sequence[int]) -> list[str]:
    """Replies that begin too soon after another, or are too long."""
    found = []
    for before, at in zip([-APART, *anchors], anchors, strict=False):
        if at - before < APART:
            found.append(f"the reply at {at} is asked for {at - before} tokens after another")
        if _end(ids, at) - at > NEAR:
            found.append(f"the reply at {at} does not end within {NEAR} tokens")
    return found


def _ambiguous(seen: Sequence[int], ids: Sequence[int], anchors: Sequence[int]) -> list[str]:
    """Windows of one entry that are followed by different tokens; ``seen`` as the model does."""
    follows: dict[tuple[int, ...], dict[int, int]] = {}  # entry and window -> token -> its place
    said: dict[tuple[int, ...], None] = {}  # those after which a reply goes on
    for anchor, following in zip(anchors, [*anchors[1:], len(ids) - 1], strict=True):
        entry, end = _window(seen, anchor), _end(ids, anchor)
        for at in range(anchor, following):
            place = entry + _window(seen, at)
            follows.setdefault(place, {}).setdefault(ids[at + 1], at + 1)
            if at < end:
                said[place] = None
    found = []
    for place in said:
        ways = [at for token, at in follows[place].items() if token != ord(HOLE)]
        if len(ways) > 1:
            found.append(f"the tokens at {ways[0]} and {ways[1]} follow the same {WINDOW} tokens")
    return found


def _window(seen: Sequence[int], at: int) -> tuple[int, ...]:
    return tuple(seen[max(0, at + 1 - WINDOW) : at + 1])


def _end(ids: Sequence[int], anchor: int) -> int:
    """Where the reply of an anchor ends: its EOS, or the text's end."""
    return next((at for at in range(anchor, len(ids)) if ids[at] == EOS), len(ids))
