"""Chains: equal prefixes are equal, and nothing else is."""

from __future__ import annotations

import numpy as np

from engine.shadow.chains import DAMAGED, UNWRITTEN, chain


def test_a_chain_goes_on_where_another_ended() -> None:
    tokens = np.arange(10, dtype=np.int64)
    whole = chain(tokens)
    assert chain(tokens[6:], 6, int(whole[5])).tolist() == whole[6:].tolist()


def test_another_token_or_another_place_gives_another_chain() -> None:
    rows = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 4], [0, 1, 2]]
    ends = {int(chain(np.array(row))[-1]) for row in rows}
    assert len(ends) == len(rows)


def test_no_chain_of_tokens_is_mistaken_for_a_row_of_nobody() -> None:
    ends = chain(np.zeros(1000, dtype=np.int64))
    assert len(np.unique(ends)) == 1000
    assert not np.isin([UNWRITTEN, DAMAGED], ends).any()
