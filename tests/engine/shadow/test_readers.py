"""Request slots as arrays: whose pages they show, and the chains of their tokens."""

from __future__ import annotations

import numpy as np

from engine.request import Request
from engine.shadow.chains import chain
from engine.shadow.readers import Readers, Rows


def request(pages: list[int]) -> Request:
    req = Request(3, [1] * 300, 10)
    req.pages, req.takes, req.req_slot = pages, [page + 10 for page in pages], 2
    return req


def test_an_admission_is_new_once_and_growth_is_none() -> None:
    readers, req = Readers(2, 1024), request([4, 5])
    assert readers.sync(req)
    assert not readers.sync(req)
    req.pages += [6]
    req.takes += [16]
    assert not readers.sync(req)
    assert readers.pages[2].tolist() == [4, 5, 6, 0]
    assert readers.takes[2].tolist() == [14, 15, 16, 0]
    assert (readers.request[2], readers.prompt[2]) == (3, 300)


def test_a_slot_that_is_given_anew_has_found_nothing_right() -> None:
    readers = Readers(2, 1024)
    readers.sync(request([4, 5]))
    readers.window[2] = readers.entries[2] = 7
    assert readers.sync(request([4, 5]))
    assert (readers.window[2] == -1).all() and (readers.entries[2] == -1).all()


def test_tokens_one_by_one_give_the_chain_of_all_of_them() -> None:
    readers, tokens = Readers(2, 1024), np.arange(40) % 7
    readers.admitted(1, tokens[:20].tolist())
    readers.extend(1, 20, tokens[20:30])
    for at in range(30, 40):
        row = Rows(np.array([1]), np.array([at]), np.array([0]))
        readers.append(row, tokens[at : at + 1])
    assert readers.chain[1, 1:41].tolist() == chain(tokens).tolist()
    assert readers.chain[1, 0] == 0
