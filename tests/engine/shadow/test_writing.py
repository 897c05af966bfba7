"""Rows are tagged where their bytes went, and a write to a page of somebody else is told of."""

from __future__ import annotations

import numpy as np

from engine.shadow.chains import DAMAGED, chain
from tests.engine.shadow.steps import Steps, tokens


def test_a_chunk_tags_every_pool_by_the_last_token_of_its_rows() -> None:
    steps = Steps()
    req = steps.admit(tokens(261))
    steps.prefill(req)
    wanted, groups = chain(np.array(req.prompt)), steps.shadow.groups
    [first, second] = req.pages
    for layer in range(4):
        swa = groups["swa", layer].chain
        assert (swa[first * 256 : (first + 1) * 256] == wanted[:256]).all()
        assert (swa[second * 256 : second * 256 + 5] == wanted[256:]).all()
    for pool in ("c4", "index_k"):
        assert (groups[pool, 0].chain[first * 64 : (first + 1) * 64] == wanted[3:256:4]).all()
        assert groups[pool, 0].chain[second * 64] == wanted[259]
    assert (
        groups["c128", 0].chain[first * 2 : first * 2 + 2].tolist() == wanted[127:256:128].tolist()
    )


def test_a_chunk_keeps_its_unfinished_groups_in_the_rings() -> None:
    steps = Steps()
    req = steps.admit(tokens(262))
    steps.prefill(req)
    wanted, groups = chain(np.array(req.prompt)), steps.shadow.groups
    for pool in ("c4_state", "index_state"):
        ring = groups[pool, 0].chain[req.pages[1] * 8 :][:8]
        assert ring.tolist() == [0, 0, 0, 0, wanted[260], wanted[261], 0, 0]
    ring = groups["c128_state", 0].chain[req.req_slot * 128 :][:128]
    assert ring[:6].tolist() == wanted[256:].tolist() and not ring[6:].any()


def test_a_decode_step_tags_as_a_chunk_of_the_same_tokens_does() -> None:
    whole, step = Steps(), Steps()
    whole.prefill(whole.admit([*tokens(250), *[9] * 20]))
    req = step.admit(tokens(250))
    step.prefill(req)
    for _ in range(20):
        step.decode(req)
    for at in (("swa", 0), ("swa", 3), ("c4", 0), ("index_k", 0), ("c128", 0)):
        assert (whole.shadow.groups[at].chain == step.shadow.groups[at].chain).all(), at


def test_padding_that_writes_damages_the_row_and_its_reader_names_the_lane() -> None:
    steps = Steps(index_k="bf16")
    req = steps.admit(tokens(300))
    steps.prefill(req)
    slot = req.pages[0] * 64 + 7
    steps.decode(req, padding=[-1, slot])
    keys = steps.shadow.groups["index_k", 0]
    assert (keys.chain[slot], keys.lane[slot]) == (DAMAGED, 2)
    [found] = steps.seen
    assert (found["name"], found["slot"], found["writer_lane"]) == ("read_foreign_row", slot, 2)
    assert (found["writer"], found["writer_kind"]) == (
        "padding lane 2 of decode step 2",
        "padding",
    )
    assert "writer_request" not in found


def test_padding_in_the_reserved_page_harms_nobody() -> None:
    steps = Steps(index_k="bf16")
    req = steps.admit(tokens(300))
    steps.prefill(req)
    steps.decode(req, padding=[0, 63])
    assert steps.seen == []


def test_pages_that_share_rows_lose_what_their_neighbour_writes() -> None:
    steps = Steps(index_k="bf16", build=["index_k_under_allocated"])
    req = steps.admit(tokens(600))
    assert [b - a for a, b in zip(req.pages, req.pages[1:], strict=False)] == [1, 1]
    steps.prefill(req)
    assert steps.names == ["read_foreign_row"]
    assert steps.seen[0]["writer"] == "prefill step 1 row 0 of request 1"


def test_a_row_that_writes_a_page_that_it_lost_is_no_owner() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    steps.pages.free(req.pages[1:])
    steps.prefill(steps.admit(tokens(100, 5)))
    steps.decode(req)
    assert "write_by_non_owner" in steps.names
    found = next(each for each in steps.seen if each["name"] == "write_by_non_owner")
    assert (found["page"], found["request"], found["writer_step"]) == (req.pages[1], 1, 3)
    steps.decode(req)
    assert [each["name"] for each in steps.seen].count("write_by_non_owner") == 1


def test_a_row_that_writes_into_a_page_under_a_copy_is_one_of_two_writers() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    steps.shadow.book.copies_in[req.pages[1]] = 1
    steps.decode(req)
    assert [each["name"] for each in steps.seen] == ["two_writers_in_flight"]
    assert steps.seen[0]["state"] == "IN_FLIGHT_IN"


def test_two_writers_are_told_once_however_many_steps_the_copy_outlasts() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    copies = [steps.shadow.begin("transfer", f"wire write of room {room}", 0) for room in (7, 8)]
    for op in copies:
        steps.shadow.book.coming(op, np.array(req.pages[1:]))
        for _ in range(3):
            steps.decode(req)
    assert [(each["name"], each["n"], each["edge"]) for each in steps.seen] == [
        (
            "two_writers_in_flight",
            1,
            f"decode step {step} row 0 of request 1 and wire write of room {room}"
            " did not wait for each other",
        )
        for step, room in ((2, 7), (5, 8))
    ]


def test_pages_freed_before_the_host_heard_of_the_step_that_wrote_them_are_unordered() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.shadow.heard = lambda: None  # type: ignore[method-assign]
    steps.prefill(req)
    steps.pages.free(req.pages)
    [found] = steps.seen
    assert (found["name"], found["n"]) == ("unordered_access", 2)
    assert found["edge"] == "the release by request 1 did not wait for prefill step 1"


def test_steps_that_write_a_page_under_one_copy_out_of_it_are_told_of_once() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    copy = steps.shadow.begin("backup", "backup 1", steps.shadow.stream("backup"))
    steps.shadow.book.read(copy, req.pages)
    for _ in range(3):
        steps.decode(req)
    [found] = steps.seen
    assert (found["name"], found["page"], found["n"]) == ("unordered_access", req.pages[1], 1)
    assert found["edge"] == "decode step 2 did not wait for backup 1"
