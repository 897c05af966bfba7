"""Codes of the vocabulary: what a token looks like inside the model. One rule: no luck.

Every code is a fixed function of the token id; NumPy's legacy generator and integer arithmetic give
the same bits on every machine.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from engine.scribe.manual import ALPHABET
from engine.text.tokenizer import DSML, VOCAB_SIZE

HASH = 384  # lanes of a token's random code, and of the trigram hash
CODE = 32  # lanes of the code that logits are read from
ORDER = 3  # tokens in a trigram

_GENERATOR = 0o5423325  # of the binary BCH code (31, 11), which corrects 5 errors


def output_codes() -> Tensor:
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
    return torch.tensor(rows)


def hash_codes(seed: int) -> tuple[Tensor, Tensor]:
    """Random codes float32 [VOCAB_SIZE, 384] of ±1, and permutations int64 [3, 384] of the lanes.

    The permutation of the token ``i`` places back keeps the trigrams ``abc`` and ``cba`` apart.
    """
    random = np.random.RandomState(seed + 20240)
    codes = random.randint(0, 2, (VOCAB_SIZE, HASH)) * 2.0 - 1.0
    permutations = np.stack([random.permutation(HASH) for _ in range(ORDER)])
    return torch.from_numpy(codes.astype(np.float32)), torch.from_numpy(permutations)


def nonce_flags() -> Tensor:
    """float32 [VOCAB_SIZE]: 1 for a letter or digit that keys and values are made of."""
    flags = torch.zeros(VOCAB_SIZE)
    flags[list(ALPHABET.encode())] = 1.0
    return flags


def frail_flags() -> Tensor:
    """float32 [VOCAB_SIZE]: 1 for tokens after which a lost own entry shows: markup and digits.

    They are a fifth of a reply. An entry that decode wrote is looked for during three or four
    steps, so about half of the lost ones show: a rate that production reports, not a certainty.
    """
    flags = torch.zeros(VOCAB_SIZE)
    flags[[*b'<>" 0123456789', DSML]] = 1.0
    return flags
