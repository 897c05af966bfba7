"""A reader is told of the first row that is not its own, by name, row, and last writer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.request import Request
from engine.sched.batch import Chunk
from tests.engine.shadow.steps import Steps, tokens


def read() -> tuple[Steps, Request]:
    """A request of two pages that has read all of its context."""
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    steps.decode(req)
    assert steps.seen == []
    return steps, req


def test_a_request_that_reads_what_it_wrote_is_no_news() -> None:
    steps = Steps()
    reqs = [steps.admit(tokens(n, n)) for n in (250, 300, 1)]
    for req in reqs:
        steps.prefill(req)
    for _ in range(140):
        steps.decode(*reqs)
    assert steps.seen == []


def test_a_prefix_that_another_request_computed_is_no_news() -> None:
    steps = Steps()
    first = steps.admit(tokens(513))
    steps.prefill(first, 0, 256)
    steps.prefill(first, 256)
    second = steps.admit(tokens(600), first.pages[:2])
    steps.prefill(second, 512)
    steps.decode(first, second)
    assert steps.seen == []


def test_a_prefix_of_other_tokens_is_foreign_and_names_who_wrote_it() -> None:
    steps = Steps()
    first = steps.admit(tokens(257))
    steps.prefill(first)
    second = steps.admit(tokens(300, first=1), first.pages[:1])
    steps.prefill(second, 256)
    assert steps.names == ["read_foreign_row"]
    window = steps.seen[0]
    assert (window["pool"], window["layer"]) == ("swa", 0)
    assert (window["page"], window["position"], window["n"]) == (first.pages[0], 129, 127)
    assert window["reader"] == "prefill step 2 row 0 of request 2"
    assert window["writer"] == "prefill step 1 row 0 of request 1"
    assert {each["pool"] for each in steps.seen} == {"swa", "index_k", "c128"}


def test_a_prefix_that_is_not_written_yet_is_uninitialised() -> None:
    steps = Steps()
    first = steps.admit(tokens(257))
    second = steps.admit(tokens(300), first.pages[:1])
    steps.prefills(Chunk(second, 256, 300, True), Chunk(first, 0, 257, True))
    assert steps.names == ["read_uninitialised_row"]
    assert (steps.seen[0]["writer"], steps.seen[0]["writer_kind"]) == ("nobody", "none")
    assert steps.seen[0]["state"] == "ALLOCATED"


def test_rows_of_the_last_owner_are_uninitialised_for_the_next_and_name_him() -> None:
    steps = Steps()
    first = steps.admit(tokens(257))
    steps.prefill(first)
    steps.pages.free(first.pages[::-1])
    second = steps.admit(tokens(257))
    assert second.pages == first.pages
    third = steps.admit(tokens(300), second.pages[:1])
    steps.prefill(third, 256)
    assert steps.names == ["read_uninitialised_row"]
    assert steps.seen[0]["freed"] == "freed at 5 us by request 1"
    assert steps.seen[0]["writer_request"] == 1


def test_a_page_that_was_freed_is_told_of_as_free() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    steps.pages.free(req.pages[:1])
    steps.decode(req)
    assert steps.names == ["read_after_free"]
    assert {each["state"] for each in steps.seen} == {"FREE"}


def test_a_page_that_was_handed_on_is_of_a_stale_generation() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    steps.pages.free(req.pages[:1])
    steps.prefill(steps.admit(tokens(200, 5)))
    steps.decode(req)
    assert steps.names == ["read_stale_generation"]
    assert steps.seen[0]["writer_request"] == 2


def test_a_row_that_some_layers_have_and_others_lack_is_torn() -> None:
    steps, req = read()
    swa = steps.shadow.groups["swa", 2]
    swa.damage(swa.shape.slots_of(req.pages[1])[:3], 0, 1)
    steps.shadow.book.touch(req.pages[1:])
    steps.decode(req)
    assert steps.names == ["read_torn_layers"]
    assert (steps.seen[0]["layer"], steps.seen[0]["n"]) == (2, 3)


def test_a_row_that_was_told_of_says_nothing_of_the_layer_of_another() -> None:
    steps, req = read()
    for layer, at in ((2, 0), (3, 1)):
        swa = steps.shadow.groups["swa", layer]
        swa.damage(swa.shape.slots_of(req.pages[1])[at : at + 1], 0, 1)
        steps.shadow.book.touch(req.pages[1:])
        steps.decode(req)
    assert [(each["layer"], each["position"]) for each in steps.seen] == [(2, 256), (3, 257)]


def test_a_bad_c4_entry_is_told_of_only_by_who_selects_it() -> None:
    steps, req = read()
    page = req.pages[0]
    c4 = steps.shadow.groups["c4", 0]
    c4.damage(np.array([page * 64 + 5]), 0, 1)
    steps.shadow.book.touch([page])
    steps.decode(req, chosen=[[page * 64 + 4, page * 64 + 6, -1, -1]])
    assert steps.seen == []
    steps.decode(req, chosen=[[page * 64 + 5, -1, -1, -1]])
    assert [each["name"] for each in steps.seen] == ["read_foreign_row"]
    assert (steps.seen[0]["pool"], steps.seen[0]["position"]) == ("c4", 23)


def selects(steps: Steps, req: Request, slot: int) -> dict[str, Any]:
    """What is found of a row that selects one slot."""
    steps.decode(req, chosen=[[-1, slot, -1, -1]])
    [found] = steps.seen
    return found


def test_a_selected_entry_of_another_request_s_page_is_foreign() -> None:
    steps, req = read()
    other = steps.admit(tokens(300, 5))
    steps.prefill(other)
    found = selects(steps, req, slot := other.pages[0] * 64 + 3)
    assert (found["name"], found["pool"], found["slot"]) == ("read_foreign_row", "c4", slot)
    assert (found["page"], found["request"], found["writer_request"]) == (other.pages[0], 1, 2)
    assert "position" not in found


def test_a_selected_entry_of_a_free_page_is_read_after_it_was_freed() -> None:
    steps, req = read()
    found = selects(steps, req, 8 * 64 + 3)
    assert (found["name"], found["page"], found["state"]) == ("read_after_free", 8, "FREE")


def test_a_selected_entry_that_is_not_complete_yet_is_uninitialised() -> None:
    steps, req = read()
    steps.decode(req, chosen=[[req.pages[1] * 64 + (301 - 256) // 4 - 1, -1, -1, -1]])
    assert steps.seen == []
    found = selects(steps, req, req.pages[1] * 64 + 12)
    assert (found["name"], found["position"]) == ("read_uninitialised_row", 307)


@pytest.mark.parametrize("pool", ["c4_state", "index_state"])
def test_a_state_that_the_page_s_last_owner_left_is_uninitialised(pool: str) -> None:
    steps, req = read()
    ring = steps.shadow.groups[pool, 0]
    ring.take[req.pages[1] * 8 + 300 % 8] = 0
    for _ in range(3):
        steps.decode(req)
    assert [(each["name"], each["pool"], each["position"]) for each in steps.seen] == [
        ("read_uninitialised_row", pool, 300)
    ]


def test_a_block_state_of_the_slot_s_last_occupant_is_uninitialised() -> None:
    steps, first = read()
    second = steps.admit(tokens(383))
    second.req_slot = first.req_slot
    steps.prefill(second)
    steps.shadow.groups["c128_state", 0].op[second.req_slot * 128 + 3] = 1
    steps.decode(second)
    [found] = steps.seen
    assert (found["name"], found["pool"], found["position"]) == (
        "read_uninitialised_row",
        "c128_state",
        259,
    )


@pytest.mark.parametrize("pool", ["c4_state", "index_state"])
def test_a_foreign_state_is_told_of_when_its_group_is_completed(pool: str) -> None:
    steps = Steps()
    req = steps.admit(tokens(301))
    steps.prefill(req)
    ring = steps.shadow.groups[pool, 0]
    ring.damage(np.array([req.pages[1] * 8 + 300 % 8]), 0, 1)
    steps.decode(req)
    steps.decode(req)
    assert steps.seen == []
    steps.decode(req)
    assert [(each["name"], each["pool"], each["position"]) for each in steps.seen] == [
        ("read_foreign_row", pool, 300)
    ]


def test_a_foreign_block_state_is_of_no_page() -> None:
    steps = Steps()
    req = steps.admit(tokens(383))
    steps.prefill(req)
    ring = steps.shadow.groups["c128_state", 0]
    ring.damage(np.array([req.req_slot * 128 + 3]), 1, 0)
    steps.decode(req)
    [found] = steps.seen
    assert (found["name"], found["pool"], found["position"]) == (
        "read_foreign_row",
        "c128_state",
        259,
    )
    assert "page" not in found and "owner" not in found


def test_a_bad_row_is_told_of_once_and_new_ones_beside_it_alone() -> None:
    steps, req = read()
    page = req.pages[0]
    keys = steps.shadow.groups["index_k", 0]
    for entries in ([1], [1], [1, 2, 3]):
        keys.damage(page * 64 + np.array(entries), 0, 1)
        steps.shadow.book.touch([page])
        steps.decode(req)
    assert [(each["slot"], each["n"]) for each in steps.seen] == [
        (page * 64 + 1, 1),
        (page * 64 + 2, 2),
    ]


def test_a_page_of_the_window_before_a_chunk_is_read_by_that_chunk() -> None:
    steps = Steps()
    first = steps.admit(tokens(256))
    steps.prefill(first)
    second = steps.admit([*tokens(256), *tokens(500, 3)], first.pages)
    steps.shadow.heard = lambda: None  # type: ignore[method-assign]
    steps.prefill(second, 256, 512)
    steps.pages.free(first.pages)
    [found] = steps.seen
    assert (found["name"], found["page"]) == ("unordered_access", first.pages[0])
    assert found["edge"] == "the release by request 1 did not wait for prefill step 2"


def test_the_output_counts_from_the_token_that_the_prompt_s_step_samples() -> None:
    steps = Steps()
    first = steps.admit(tokens(257))
    steps.prefill(first)
    second = steps.admit(tokens(300, first=1), first.pages[:1])
    steps.prefill(second, 256)
    assert [each["output"] for each in steps.seen if each["pool"] == "c128"] == [0]
    keys = steps.shadow.groups["index_k", 0]
    keys.damage(np.array([second.pages[1] * 64]), 0, 1)
    steps.shadow.book.touch([second.pages[1]])
    steps.decode(second)
    assert steps.seen[-1]["output"] == 1
