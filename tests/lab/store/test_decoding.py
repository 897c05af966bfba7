"""JSON of the database: whole columns come back as value by value."""

from __future__ import annotations

import math
from typing import Any

import pytest

from lab.store.columns import encode
from lab.store.decoding import decode, decode_all


@pytest.mark.parametrize(
    "values",
    [
        [],
        [{}, [], {"n": 1, "mean": 20.5, "p50": None}],
        [{"beyond": 2**64}, {"below": -(2**63) - 1}, {"within": 2**64 - 1}],
        [{"wide": 10**40}, [0]],
        [{"far": math.inf}, [1]],
        [{"half": "\ud800"}, {"whole": "😀"}],
        [["12345678901234567890123"], ["digits of a text"]],
    ],
)
def test_a_column_comes_back_equal_to_what_was_encoded(values: list[Any]) -> None:
    texts = [encode(value) for value in values]
    found = decode_all(texts)
    assert found == values == [decode(text) for text in texts]


def test_whole_numbers_stay_whole_and_others_do_not_become_whole() -> None:
    (found,) = decode_all([encode([2**64, 1.0, 1])])
    assert [type(it) for it in found] == [int, float, int]


def test_values_of_one_column_share_nothing() -> None:
    one, other = decode_all(['{"a":[]}', '{"a":[]}'])
    one["a"].append(1)
    assert other == {"a": []}
