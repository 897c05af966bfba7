"""The closed forms: codes that stand apart, and kernels that see what they should."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.scribe import codes, manual
from engine.scribe import rope_kernels as rk
from engine.scribe.weights import GATHER, REACH, build
from engine.text.tokenizer import ASSISTANT, EOS, VOCAB_SIZE, decode, encode


def values(kernel: rk.Complex, period: int, distances: np.ndarray) -> np.ndarray:
    """What a kernel scores at each distance."""
    return np.real(rk.rotation(distances, period, len(kernel)) @ kernel)


def test_output_codes_of_two_tokens_share_at_most_8_of_32() -> None:
    table = codes.output_codes()
    gram = table @ table.T
    assert gram.fill_diagonal_(0).max() <= 8
    assert table.shape == (VOCAB_SIZE, codes.CODE)


def test_a_word_times_a_word_is_the_word_of_their_xor() -> None:
    table = codes.output_codes()
    assert torch.equal(table[200] * table[57], table[200 ^ 57])


@pytest.mark.parametrize("offset", [0, 1, *GATHER[-2:]])
def test_an_exact_offset_stands_20_nats_above_every_other_distance(offset: int) -> None:
    score = values(rk.exact_offset(offset), rk.WINDOW, np.arange(128.0))
    others = np.delete(score, offset)
    assert score.argmax() == offset
    assert score[offset] - others.max() > 20


def test_no_layer_reaches_less_than_its_kernels_see() -> None:
    seen = values(rk.last_tokens(), rk.WINDOW, np.arange(128.0))
    assert seen[REACH[2] :].max() < seen[1:26].min() - 4
    assert REACH[1] == rk.WINDOW
    assert REACH[0] > 2 and REACH[3] > max(GATHER[2:6]) - 1


def test_the_pointer_prefers_the_entries_after_its_block() -> None:
    def g(distance: range) -> np.ndarray:
        return values(rk.after_block(), rk.PERIOD, np.array(distance, dtype=float))

    near = {d: float(g(range(d, d + 1))[0]) for d in range(40, 236, 5)}
    for d, value in near.items():
        far = max(g(range(d + 256, d + 4096, 4)).max(), g(range(d - 4000, d - 255, 4)).max())
        assert value - far > 0.38


def test_weights_are_the_same_every_time() -> None:
    first, second = build(0), build(0)
    assert all(
        torch.equal(a, b) for a, b in zip(vars(first).values(), vars(second).values(), strict=True)
    )


def test_an_entry_is_a_stride_long_and_spells_its_reply() -> None:
    text = manual.entry("ABCDEFGH1234", "bill_client", ("A1B2C3D4", "Z9Y8X7W6"))
    tokens = encode(text)
    assert len(tokens) == manual.token_count(text) >= manual.ENTRY_STRIDE
    reply = encode(manual.expected_reply(text))
    start = tokens.index(ASSISTANT) + 1
    assert tokens[start:] == [*reply, EOS]
    assert decode(reply) == manual.reply("ABCDEFGH1234", "bill_client", ("A1B2C3D4", "Z9Y8X7W6"))


def test_the_rules_are_tail_enough() -> None:
    assert manual.token_count(manual.RULES_TEXT) >= manual.TAIL_TEXT
