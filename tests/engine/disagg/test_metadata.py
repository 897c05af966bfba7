"""Metadata slots: who holds which, what one says, and where its bytes are."""

from __future__ import annotations

import pytest
import torch

from engine.disagg.metadata import MetadataBuffers, Row
from engine.errors import PoolError


def test_slots_are_handed_out_from_1_and_the_reserved_one_never() -> None:
    buffers = MetadataBuffers(3)
    assert [buffers.take() for _ in range(4)] == [1, 2, 3, None]


def test_the_slot_given_back_first_is_taken_first() -> None:
    buffers = MetadataBuffers(3)
    for _ in range(3):
        buffers.take()
    for slot in (2, 3, 1):
        buffers.give(slot)
    assert [buffers.take() for _ in range(3)] == [2, 3, 1]


def test_available_counts_the_free_ones() -> None:
    buffers = MetadataBuffers(3)
    buffers.take()
    assert buffers.available == 2
    buffers.give(1)
    assert buffers.available == 3


@pytest.mark.parametrize("slot", [0, 2, 4, -1])
def test_a_slot_that_nobody_holds_cannot_be_given_back(slot: int) -> None:
    buffers = MetadataBuffers(3)
    buffers.take()
    with pytest.raises(PoolError, match=f"metadata slot {slot} "):
        buffers.give(slot)
    assert buffers.available == 2


def test_a_slot_given_back_twice_is_refused() -> None:
    buffers = MetadataBuffers(3)
    buffers.take()
    buffers.give(1)
    with pytest.raises(PoolError):
        buffers.give(1)


def test_a_slot_says_what_was_written_and_the_others_stay_nobody_s() -> None:
    buffers = MetadataBuffers(2)
    buffers.write(1, room=7, token=-3, cached=512, host=256)
    assert buffers.read(1) == Row(room=7, token=-3, cached=512, host=256)
    assert buffers.read(2) == buffers.read(0) == Row(0, 0, 0, 0)


def test_giving_and_taking_leaves_what_a_slot_says() -> None:
    buffers = MetadataBuffers(1)
    buffers.take()
    buffers.write(1, room=7, token=5, cached=0, host=0)
    buffers.give(1)
    buffers.take()
    assert buffers.read(1).room == 7


def test_a_cleared_slot_is_nobody_s() -> None:
    buffers = MetadataBuffers(2)
    for slot in (1, 2):
        buffers.write(slot, room=slot, token=5, cached=6, host=7)
    buffers.clear(1)
    assert buffers.read(1) == Row(0, 0, 0, 0)
    assert buffers.read(2).room == 2


def test_the_region_is_the_slots_themselves_64_bytes_each() -> None:
    buffers = MetadataBuffers(2)
    region = buffers.region
    assert (region.pool, region.layer, region.item_len, len(region.memory)) == ("aux", 0, 64, 192)
    region.memory[64:128] = torch.tensor([9, 8, 7, 6, 0, 0, 0, 0]).view(torch.uint8)
    assert buffers.read(1) == Row(9, 8, 7, 6)
