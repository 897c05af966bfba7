"""The anchor hands out whole pages or refuses."""

from __future__ import annotations

import pytest

from engine.errors import PoolError
from engine.pools.anchor import LogicalHostPool


def test_tokens_become_pages_from_1() -> None:
    assert LogicalHostPool(4).allocate(512) == [1, 2]


@pytest.mark.parametrize("tokens", [1, 255, 257, 300, -256])
def test_tokens_that_are_no_whole_pages_are_refused(tokens: int) -> None:
    with pytest.raises(PoolError, match="whole pages of 256"):
        LogicalHostPool(4).allocate(tokens)


def test_more_than_there_is_is_none_and_takes_nothing() -> None:
    anchor = LogicalHostPool(2)
    assert anchor.allocate(768) is None
    assert anchor.allocator.available == 2


@pytest.mark.parametrize("tokens", [255, 257])
def test_an_unaligned_free_is_refused(tokens: int) -> None:
    anchor = LogicalHostPool(2)
    pages = anchor.allocate(256)
    assert pages is not None
    with pytest.raises(PoolError, match="whole pages of 256"):
        anchor.free(pages, tokens)


def test_pages_and_their_tokens_must_agree() -> None:
    anchor = LogicalHostPool(2)
    pages = anchor.allocate(512)
    assert pages is not None
    with pytest.raises(PoolError, match="512 tokens are not those of 1 pages"):
        anchor.free(pages[:1], 512)
    anchor.free(pages, 512)
    assert anchor.allocator.available == 2
