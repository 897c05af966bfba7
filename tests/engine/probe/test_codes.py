"""The integers of the probe: hashes that depend on what they should, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from engine.probe import codes
from engine.text.tokenizer import encode

PLACE = encode('{"ref":"ABCDEFG1","key":"ABCDEFGHIJ01"}<｜Assistant｜>')


def test_a_window_hash_covers_exactly_its_tokens() -> None:
    changed = [
        codes.window_hash([*PLACE[:at], ord("z"), *PLACE[at + 1 :]]) != codes.window_hash(PLACE)
        for at in range(len(PLACE))
    ]
    assert sum(changed) == codes.WINDOW
    assert changed == sorted(changed)


def test_tokens_in_another_order_have_another_hash() -> None:
    assert codes.window_hash(PLACE) != codes.window_hash(PLACE[::-1])


def test_a_symbol_looks_like_the_hole_that_it_fills() -> None:
    hashes = {codes.window_hash([*PLACE, ord(letter)]) for letter in codes.HOLE + codes.SYMBOLS}
    assert len(hashes) == 1


def test_the_symbol_depends_on_the_reference_and_on_what_is_before() -> None:
    refs = [f"ABCDEFG{digit}" for digit in range(10)] + ["A0123456", "BCDEFGHI"]
    assert len({codes.symbol(ref, PLACE) for ref in refs}) > 4
    later = {codes.symbol(refs[0], PLACE + [ord(codes.HOLE)] * run) for run in range(20)}
    assert len(later) > 4
    assert {chr(symbol) for symbol in later} <= set(codes.SYMBOLS)


def test_two_references_with_one_hash_write_one_symbol() -> None:
    refs = [f"{letter}BCDEFG{digit}" for letter in "ABCDEFGHIJ" for digit in range(10)]
    for ref in refs:
        same = codes.ref_bits(ref) == codes.ref_bits(refs[0])
        assert same == (codes.symbol(ref, PLACE) == codes.symbol(refs[0], PLACE))


def test_hash_codes_of_two_tokens_differ_in_16_lanes_or_more() -> None:
    table = codes.hash_codes()
    apart = (codes.LANES - table @ table.T) / 2
    filled = [ord(symbol) for symbol in codes.SYMBOLS]
    np.fill_diagonal(apart, codes.LANES)
    assert np.delete(np.delete(apart, filled, 0), filled, 1).min() >= 16


@pytest.mark.parametrize("ref", ["", "ABCDEFG", "ABCDEFGHI"])
def test_a_reference_of_another_length_is_refused(ref: str) -> None:
    with pytest.raises(ValueError, match="8 characters"):
        codes.ref_bits(ref)


def test_too_few_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="22 tokens"):
        codes.window_hash(PLACE[:21])
