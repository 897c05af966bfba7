"""Whatever is written, both wires leave the same bytes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.disagg.wire import Write
from engine.disagg.wires import open_wire
from tests.engine.disagg.joined import ITEMS, LAYERS, LEN, Joined


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Joined, Joined]]:
    pytest.importorskip("nixl_cu13")
    inproc, nixl = Joined(open_wire("inproc")), Joined(open_wire("nixl"))
    yield inproc, nixl
    nixl.wire.close()


@st.composite
def writes(draw: st.DrawFn) -> Write:
    """Within the regions; places may repeat and overlap."""
    src_len = draw(st.sampled_from([1, 8, 24, 40, LEN]))
    dst_len = draw(st.sampled_from([src_len, src_len, 16, LEN]))
    last = min(ITEMS, (ITEMS * LEN - src_len) // dst_len)
    items = draw(st.lists(st.tuples(st.integers(0, ITEMS - 1), st.integers(0, last)), max_size=12))
    src, dst = tuple(s for s, _ in items), tuple(d for _, d in items)
    return Write(draw(st.integers(0, LAYERS - 1)), src, dst, src_len, dst_len)


@settings(deadline=None, max_examples=60)
@given(posts=st.lists(st.lists(writes(), max_size=3), min_size=1, max_size=3))
def test_equal_bytes_and_notes_by_both_wires(
    pair: tuple[Joined, Joined], posts: list[list[Write]]
) -> None:
    for joined in pair:
        for memory in joined.target:
            memory.zero_()
        for number, post in enumerate(posts):
            joined.land(post, f"{number}_kv")
    inproc, nixl = pair
    assert inproc.wire.notes() == nixl.wire.notes()
    assert all(map(torch.equal, inproc.target, nixl.target))
