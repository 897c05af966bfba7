"""Codes that a constructed model gives its tokens. One rule: no luck.

Every word is a fixed function of the token id and a seed; integer arithmetic and NumPy's legacy
generator give the same bits on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.text.tokenizer import VOCAB_SIZE

CODE = 32  # lanes of the code that logits are read from

_GENERATOR = 0o5423325  # of the binary BCH code (31, 11), which corrects 5 errors

Signs = NDArray[np.float32]
Orders = NDArray[np.int64]


def output_words() -> Signs:
    """float32 [VOCAB_SIZE, 32] of ±1: the first words of the extended BCH code (32, 11, 12).

    Two words differ in 12 lanes or more, so their inner product is at most 8 of 32.
    """
    rows = []
    for token in range(VOCAB_SIZE):
        word = 0
        for bit in range(token.bit_length()):
            if token >> bit & 1:
                word ^= _GENERATOR << bit
        word |= (word.bit_count() & 1) << (CODE - 1)  # the parity bit that extends the code
        rows.append([1.0 - 2.0 * (word >> lane & 1) for lane in range(CODE)])
    return np.array(rows, dtype=np.float32)


def random_words(seed: int, lanes: int, orders: int) -> tuple[Signs, Orders]:
    """Random codes float32 [VOCAB_SIZE, lanes] of ±1, and permutations int64 [orders, lanes]."""
    random = np.random.RandomState(seed)
    words = random.randint(0, 2, (VOCAB_SIZE, lanes)) * 2.0 - 1.0
    permutations = np.stack([random.permutation(lanes) for _ in range(orders)])
    return words.astype(np.float32), permutations.astype(np.int64)
