"""The integers of the probe model: what its reply is made of. One rule: no network is needed here.

The model copies the token that followed the earlier place whose last 22 tokens hash to the same
bits. Hashes are XORs, written as products of ±1 lanes: a 4-gram hash of the permuted codes of four
tokens, and a window hash of six permuted 4-gram hashes. Where a manual entry holds ``HOLE``, the
model writes a symbol instead: 4 bits of the window hash, XOR 4 bits of the turn's own reference.
The hole and all symbols have one hash code, so a reply's windows are those of its entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from engine.codewords import Orders, Signs, output_words, random_words

HOLE = "?"
SYMBOLS = "KLMNOPQRSTUVWXYZ"
NONCE_ALPHABET = "ABCDEFGHIJ0123456789"

LANES = 64  # of a token's hash code, of the 4-gram hash and of the window hash
GRAM = 4  # tokens in a gram
GATHER = (0, 4, 8, 12, 16, 18)  # how far back a window's grams end
WINDOW = GATHER[-1] + GRAM  # tokens that a window hash covers
REF_GATHER = (24, 28)  # how far before the reply's first place the grams of the reference end
REF_LENGTH = 8
SYMBOL_BITS = 4

_SEED = 30310


def hash_codes() -> Signs:
    """float32 [VOCAB_SIZE, 64] of ±1; the hole and the symbols have one code."""
    words = _random()[0].copy()
    words[[ord(symbol) for symbol in SYMBOLS]] = words[ord(HOLE)]
    return words


def value_codes() -> Signs:
    """float32 [VOCAB_SIZE, 32] of ±1: what a copied token is read as; two share at most 8."""
    return output_words()


def gram_orders() -> Orders:
    """int64 [4, 64]: lane ``j`` of a 4-gram hash takes lane ``[i, j]`` of the token i back."""
    return _random()[1][:GRAM]


def window_orders() -> Orders:
    """int64 [6, 64]: lane ``j`` of a window hash takes lane ``[k, j]`` of its k-th gram."""
    return _random()[1][GRAM : GRAM + len(GATHER)]


def ref_orders() -> Orders:
    """int64 [2, 4]: the lanes that a reference's bits take of its last and of its first gram."""
    return _random()[1][GRAM + len(GATHER) :, :SYMBOL_BITS]


def window_hash(tokens: Sequence[int]) -> tuple[int, ...]:
    """The 64 lanes, ±1, of the last 22 of ``tokens``; ValueError when there are fewer."""
    if len(tokens) < WINDOW:
        raise ValueError(f"a window hash takes {WINDOW} tokens, not {len(tokens)}")
    ends = [len(tokens) - back for back in GATHER]
    return _xor([_gram(tokens[end - GRAM : end]) for end in ends], window_orders())


def ref_bits(ref: str) -> int:
    """0..15: the hash of a turn's reference; ValueError unless it is 8 bytes long."""
    letters = ref.encode()
    if len(letters) != REF_LENGTH:
        raise ValueError(f"a reference is {REF_LENGTH} characters long, not {ref!r}")
    return _number(_xor([_gram(letters[GRAM:]), _gram(letters[:GRAM])], ref_orders()))


def symbol(ref: str, before: Sequence[int]) -> int:
    """The token that the model writes for a hole after the tokens ``before``, in the turn ``ref``.

    ``before`` are token ids, at least 22. ValueError where they or the reference are too short.
    """
    return ord(SYMBOLS[ref_bits(ref) ^ _number(window_hash(before)[:SYMBOL_BITS])])


def _gram(tokens: Sequence[int]) -> Signs:
    words = _random_codes()
    return np.array(_xor([words[token] for token in reversed(tokens)], gram_orders()))


def _xor(words: Sequence[Any], orders: Orders) -> tuple[int, ...]:
    """The XOR of permuted words, as a product of their signs."""
    lanes = np.prod([word[order] for word, order in zip(words, orders, strict=True)], axis=0)
    return tuple(int(lane) for lane in lanes)


def _number(lanes: Sequence[int]) -> int:
    """Lane j is bit j; -1 is a set bit."""
    return sum(1 << bit for bit, lane in enumerate(lanes) if lane < 0)


@cache
def _random_codes() -> Signs:
    return hash_codes()


@cache
def _random() -> tuple[Signs, Orders]:
    return random_words(_SEED, LANES, GRAM + len(GATHER) + len(REF_GATHER))
