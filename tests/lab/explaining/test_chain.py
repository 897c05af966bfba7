"""Cause before effect: one damage behind another, on the same bytes."""

from __future__ import annotations

from lab.explaining.chain import Chain, chain_of
from lab.explaining.evidence import Evidence
from tests.lab.explaining.histories import PADDING, Told, arm, read, violation


def chain(effect: Told, *before: Told) -> Chain:
    damages = Evidence(arm(events=(*before, effect))).damages
    last = next(it for it in damages if it.fields is effect[2])
    return chain_of(last, damages)


def names(found: Chain) -> list[str]:
    return [link.name for link in found.links]


def test_a_read_is_behind_the_write_of_the_same_page() -> None:
    write = violation("padded_row_wrote_owned_slot", step=31, page=245, slot=15700)
    other = violation("padded_row_wrote_owned_slot", 0.6, step=33, page=9, slot=600)
    found = chain(read("read_foreign_row", by=2, **PADDING), write, other)
    assert names(found) == ["read_foreign_row", "padded_row_wrote_owned_slot"]
    assert found.links[1].fields["page"] == 245 and found.sure


def test_of_a_page_s_writes_it_is_that_of_the_step_that_wrote_last() -> None:
    writes = [
        violation("padded_row_wrote_owned_slot", at, step=step, page=245)
        for at, step in ((0.3, 30), (0.4, 31), (0.5, 32))
    ]
    assert chain(read("read_foreign_row", by=2, **PADDING), *writes).links[1].fields["step"] == 31


def test_a_step_that_spoilt_several_pages_tells_of_the_first_and_is_found_by_its_number() -> None:
    write = violation("padded_row_wrote_owned_slot", step=31, writer_step=31, page=9)
    assert names(chain(read("read_foreign_row", by=2, **PADDING), write))[1:] == [
        "padded_row_wrote_owned_slot"
    ]


def test_a_load_goes_on_to_what_spoilt_the_host_page() -> None:
    spoilt = violation("host_page_changed_under_load", 0.3, host_page=12, page=245)
    differs = violation("restored_page_differs", 0.4, pool="index_k", page=245, host_page=12)
    found = chain(read("read_changed_bytes", by=2, writer_kind="load"), spoilt, differs)
    assert names(found) == [
        "read_changed_bytes",
        "restored_page_differs",
        "host_page_changed_under_load",
    ]


def test_a_copy_whose_page_nobody_told_is_joined_by_its_pool_and_not_surely() -> None:
    backup = violation("page_changed_under_backup", 0.3, pool="index_k", page=3, host_page=8)
    found = chain(read("read_uninitialised_row", by=2, writer_kind="load"), backup)
    assert names(found)[1:] == ["page_changed_under_backup"] and not found.sure
    assert len(chain(read("read_uninitialised_row", by=2), backup).links) == 1


def test_a_room_that_wrote_late_is_found_by_its_number() -> None:
    late = violation("late_write_into_owned_page", writer_room=7, page=1, victim="request 2")
    effect = read("read_foreign_row", by=2, writer_kind="transfer", writer_room=7)
    assert names(chain(effect, late))[1:] == ["late_write_into_owned_page"]


def test_other_pools_generations_and_sides_and_later_writes_are_no_cause() -> None:
    effect = read("read_foreign_row", by=2)
    for other in (
        violation("write_by_non_owner", page=245, pool="c4"),
        violation("write_by_non_owner", page=245, generation=9),
        violation("write_by_non_owner", page=245, side="decode"),
        violation("write_by_non_owner", 4.0, page=245),
    ):
        assert len(chain(effect, other).links) == 1


def test_a_write_and_a_token_have_nothing_behind_them() -> None:
    before = violation("write_by_non_owner", 0.1, page=3)
    for name in ("padded_row_wrote_owned_slot", "token_of_another_row"):
        assert len(chain(violation(name, 0.2, page=3), before).links) == 1


def test_a_request_whose_page_was_given_away_writes_there_in_good_faith() -> None:
    load = violation("load_wrote_page_in_use", 0.3, victim="request 7", page=3, host_page=8)
    write = violation("write_by_non_owner", 0.6, page=245, pool="index_k", writer_request=7)
    found = chain(read("read_foreign_row", by=2, writer_kind="decode"), load, write)
    assert names(found)[1:] == ["write_by_non_owner", "load_wrote_page_in_use"] and found.sure


def test_a_load_is_known_by_its_number_though_another_of_its_pages_is_named() -> None:
    effect = read("read_foreign_row", by=2, writer_kind="load", writer="load 4 of host page 14")
    mine = violation("restored_page_differs", 0.4, page=3, writer="load 4 of host page 7")
    others = violation("restored_page_differs", 0.5, page=3, writer="load 41 of host page 7")
    assert chain(effect, mine, others).links[1].at_ns == 400_000_000
    edge = violation("host_page_changed_under_load", edge="backup 36 did not wait for load 4")
    assert names(chain(effect, edge))[1:] == ["host_page_changed_under_load"]


def test_a_load_s_sentence_names_the_host_page_and_the_backup_that_filled_it() -> None:
    loaded = {"writer_kind": "load", "writer": "load 1 of host page 3, which backup 1 filled"}
    effect = read("read_uninitialised_row", by=2, **loaded)
    raced = violation("unordered_access", 0.2, page=9, edge="step 2 did not wait for backup 1")
    other = violation("unordered_access", 0.3, page=9, edge="step 7 did not wait for backup 11")
    changed = violation("page_changed_under_backup", 0.2, pool="index_k", page=9, host_page=3)
    found = chain(effect, raced, other, changed)
    assert found.sure and found.links[-1].at_ns == 200_000_000
    assert sorted(names(found)[1:]) == ["page_changed_under_backup", "unordered_access"]


def test_rows_that_share_bytes_are_found_by_the_slot_that_lost_them() -> None:
    shared = violation("row_shared_by_two_slots", slot=900, lost_slot=15700, owner="request 2")
    found = chain(read("read_foreign_row", by=2, writer_kind="prefill"), shared)
    assert names(found)[1:] == ["row_shared_by_two_slots"] and found.sure
    other = violation("row_shared_by_two_slots", slot=900, lost_slot=7, owner="request 9")
    assert not chain(read("read_foreign_row", by=2, writer_kind="prefill"), other).sure


def test_two_that_share_but_the_number_of_a_load_are_linked_and_not_surely() -> None:
    effect = read("read_foreign_row", by=2, writer_kind="load", writer="load 4 of host page 14")
    mine = violation("restored_page_differs", 0.4, page=3, writer="load 4 of host page 7")
    found = chain(effect, mine)
    assert names(found)[1:] == ["restored_page_differs"] and not found.sure


def test_the_backup_that_filled_the_host_page_counts_before_the_load_that_brought_it() -> None:
    writer = "load 4 of host page 14, which backup 6 filled"
    effect = read("read_foreign_row", by=2, writer_kind="load", writer=writer)
    backup = violation("unordered_access", 0.3, page=9, reader="backup 6 of page 9")
    load = violation("restored_page_differs", 0.4, page=3, writer="load 4 of host page 7")
    found = chain(effect, backup, load)
    assert names(found)[1] == "unordered_access" and not found.sure


def test_a_copy_of_the_page_before_it_was_handed_on_is_no_cause() -> None:
    loaded = {"writer_kind": "load", "writer": "load 4 of host page 14", "generation": 2}
    before = violation("unordered_access", page=245, generation=1, edge="load 4 did not wait")
    assert len(chain(read("read_foreign_row", by=2, **loaded), before).links) == 1


def test_a_page_of_the_host_is_not_the_device_s_of_the_same_number() -> None:
    loaded = {"writer_kind": "load", "writer": "load 4 of host page 14, which backup 34 filled"}
    effect = read("read_foreign_row", by=2, page=9, **loaded)
    edge = "backup 34 did not wait for load 4"
    kind = {"tier": "host", "writer": "load 4", "writer_kind": "load", "edge": edge}
    other = violation("unordered_access", 0.3, page=9, **kind)
    found = chain(effect, other)
    assert names(found)[1:] == ["unordered_access"] and not found.sure
    mine = violation("unordered_access", 0.2, page=14, **kind)
    found = chain(effect, mine, other)
    assert found.sure and found.links[1].number("host_page") == 14
