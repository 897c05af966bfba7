"""Codes of the vocabulary: what a token looks like inside the model. One rule: no luck.

The words themselves are `engine.codewords`, which every constructed model shares.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.codewords import CODE as CODE
from engine.codewords import output_words, random_words
from engine.scribe.manual import ALPHABET
from engine.text.tokenizer import DSML, VOCAB_SIZE

HASH = 384  # lanes of a token's random code, and of the trigram hash
ORDER = 3  # tokens in a trigram


def output_codes() -> Tensor:
    """float32 [VOCAB_SIZE, 32] of ±1, of which two share at most 8 lanes more than they differ."""
    return torch.from_numpy(output_words())


def hash_codes(seed: int) -> tuple[Tensor, Tensor]:
    """Random codes float32 [VOCAB_SIZE, 384] of ±1, and permutations int64 [3, 384] of the lanes.

    The permutation of the token ``i`` places back keeps the trigrams ``abc`` and ``cba`` apart.
    """
    codes, permutations = random_words(seed + 20240, HASH, ORDER)
    return torch.from_numpy(codes), torch.from_numpy(permutations)


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
