"""What `show --rooms` says of an arm's rooms."""

from __future__ import annotations

from dataclasses import replace

from lab.records import ArmHistory
from lab.report.rooms import rooms_document, rooms_view
from lab.rooms import Seen, late_writes, worst_first
from lab.store import Difference, RoomPages
from tests.lab.disaggregated import TIMED_OUT, disaggregated, late_write, room
from tests.lab.report.test_table import cells, printed
from tests.lab.samples import history

SAME, UNSEEN = RoomPages(9, 0, None), RoomPages(0, 0, None)
DIFFERS = RoomPages(9, 1, Difference(1, "index_k", 0, 101, 301))
WIDE = 250


def seen() -> list[Seen]:
    """Six rooms, of a session each: the second timed out, a page of the fourth arrived changed."""
    pages = {2: UNSEEN, 4: DIFFERS}
    return [Seen(it, pages.get(it.room, SAME), it.room - 1, 0) for it in disaggregated("pd").rooms]


def pair() -> ArmHistory:
    """Their arm, with three transfer queues."""
    made = disaggregated("pd")
    made.settings["queue_size"] = 3
    return made


def test_late_writers_and_their_victims_come_first_then_rooms_that_differ_failed_or_go_on() -> None:
    still_open = Seen(replace(room(9), outcome="open"), UNSEEN)
    order = [it.record.room for it in worst_first([*seen(), still_open], {6: "hit by 3", 3: ""})]
    assert order == [3, 6, 4, 2, 9, 1, 5]


def test_a_room_s_row_says_what_it_was_how_long_and_what_arrived() -> None:
    text = printed(rooms_view(pair(), seen(), 20), WIDE)
    assert cells(text, "4") == [
        *("3/0", "1", "600", "0.010", "0.190", "0.300", "0.005", "0.500", "3.49", "1/9"),
        "Success; first index_k 1, 101 -> 301",
    ]


def test_a_failed_room_says_why_and_how_long_its_free_pages_were_written() -> None:
    row = cells(printed(rooms_view(disaggregated("pd"), seen(), 20), WIDE), "2")
    assert row[-2:] == ["–", f"Failed: {TIMED_OUT}; free while written 0.300 s"]


def test_the_limit_hides_the_best_rooms_and_says_so() -> None:
    text = printed(rooms_view(disaggregated("pd"), seen(), 2), WIDE)
    assert "4 more; --limit N shows more" in text
    assert cells(text, "4") and cells(text, "2")
    assert not [line for line in text.splitlines() if line.split()[:2] == ["1", "0/0"]]


def test_one_line_sums_the_arm_up() -> None:
    text = " ".join(printed(rooms_view(disaggregated("pd"), seen(), 0), WIDE).split())
    assert text == (
        "pd: rooms 6: 5 succeeded, 1 failed (timed out in WaitingForInput 1); page rows compared "
        "45, different 1 (in rooms: 1); 20.97 MB as 43 layers send them (c4 14.15, index_k 6.19, "
        "c128 0.62), 1.00 MB moved"
    )
    arm = disaggregated("pd")
    arm.counters["client_retries"] = 3
    assert "WaitingForInput 1), 3 asked again; page" in printed(rooms_view(arm, seen(), 0), WIDE)


def test_a_state_that_the_arm_ended_in_is_marked() -> None:
    waits = replace(room(9), prefill={"Bootstrapping": 800.0}, decode={}, outcome="open")
    arm = replace(disaggregated("pd"), virtual_s=812.4)
    row = cells(printed(rooms_view(arm, [Seen(waits, UNSEEN), *seen()], 9), WIDE), "9")
    assert row[3:8] == ["12.40+", "–", "–", "–", "–"]


def test_a_column_that_says_nothing_of_any_room_is_left_out() -> None:
    idle = replace(room(3), flash_bytes=0, prefill={})
    text = printed(rooms_view(disaggregated("pd"), [Seen(idle, SAME)], 9), WIDE)
    assert cells(text, "3") == ["–", "–", "600", "0.005", "0.500", "0/9", "Success"]
    assert not {"fill", "MB"} & {word for line in text.splitlines()[2:5] for word in line.split()}


def test_late_writes_are_told_with_writer_and_victim_up_to_the_limit() -> None:
    arm = disaggregated("pd")
    arm.events += [late_write(2, victim, 301) for victim in (5, 6, 5)]
    text = printed(rooms_view(arm, seen(), 1), WIDE)
    who = "late write: room 2 into room 5 (request 1005): "
    assert f"{who}page 301 and 1 more (512 rows of c4, index_k, c128)\n" in text
    assert "late writes of 1 more pairs of rooms" in text
    every = printed(rooms_view(arm, seen(), 9), WIDE)
    assert "; wrote late into 5, 6; free while" in cells(every, "2")[-1]
    assert cells(every, "5")[-1] == cells(every, "6")[-1] == "Success; hit by 2"


def test_a_session_s_rooms_come_with_the_late_writes_that_they_had_a_part_in() -> None:
    arm = pair()
    arm.replies[4] = replace(arm.replies[4], request_id="chatcmpl-1005")
    arm.events += [late_write(2, victim, 301) for victim in (5, 6)]
    text = printed(rooms_view(arm, seen(), 9, session=4), WIDE)
    assert "room 2 into room 5 (session 4, turn 0)" in text and "into room 6" not in text
    rows = [line.split()[:2] for line in text.splitlines() if "/0 " in line]
    assert rows == [["5", "4/0"]]
    document = rooms_document(arm, seen(), 9, session=4)
    assert [made["room"] for made in document["rooms"]] == [5]
    assert [it["victim_room"] for it in document["summary"]["late_writes"]] == [5]
    nobody = printed(rooms_view(arm, seen(), 9, session=77), WIDE)
    assert "no room is known to be session 77's" in nobody


def test_a_table_with_every_column_fits_in_a_hundred() -> None:
    arm = pair()
    arm.events.append(late_write(2, 5, 301))
    lines = printed(rooms_view(arm, seen(), 9), 100).splitlines()
    assert max(map(len, lines)) <= 100
    assert len([line for line in lines if line.split()[:1] == ["room"]]) == 1


def test_a_page_and_a_request_slot_are_two_late_writes_with_rows_of_their_own() -> None:
    found = late_writes([late_write(2, 5, 70, n=3, rows=600), slot_hit()])
    assert [(it.pools, it.unit, it.first, it.pages, it.rows) for it in found] == [
        ("c4, index_k, c128", "page", 70, 3, 600),
        ("c128_state", "request slot", 4, 1, 128),
    ]


def slot_hit() -> tuple[int, str, dict[str, int | str]]:
    return late_write(2, 5, 4, piece="state", pools="c128_state", rows=128)


def test_an_arm_that_was_not_disaggregated_is_one_line() -> None:
    assert printed(rooms_view(history("fp8"), [], 20)).rstrip() == (
        "fp8: not disaggregated (pd is off), so it has no rooms."
    )


def test_a_disaggregated_arm_without_a_room_says_so() -> None:
    idle = replace(disaggregated("pd"), rooms=[], digests=[])
    assert "no room was opened" in printed(rooms_view(idle, [], 20))


def test_ranks_are_told_apart_and_their_room_counted_once() -> None:
    both = [Seen(replace(room(3), rank=rank), SAME) for rank in (0, 1)]
    text = printed(rooms_view(disaggregated("pd"), both, 20), WIDE)
    assert cells(text, "3 r1")[2] == "600"
    assert "rooms 1: 1 succeeded, 0 failed; page rows compared 18" in text


def test_a_page_that_was_never_sent_has_a_dash_for_its_source() -> None:
    foreign = RoomPages(1, 1, Difference(0, "swa", 2, None, 87))
    text = printed(rooms_view(disaggregated("pd"), [Seen(room(3), foreign)], 1), WIDE)
    assert "swa 0, – -> 87" in text


def test_in_eighty_columns_no_number_is_lost() -> None:
    text = printed(rooms_view(disaggregated("pd"), seen(), 20), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert {"3.49", "0.190", "index_k", "0.300", "1/9"} <= set(text.split())


def test_the_document_has_every_room_with_its_times_and_its_first_difference() -> None:
    document = rooms_document(pair(), seen(), 20)
    assert document["name"] == "pd"
    assert document["summary"]["failed"] == {TIMED_OUT: 1}
    first = document["rooms"][0]
    assert first["room"] == 4 and first["pages_different"] == 1
    assert first["first_difference"]["src_page"] == 101
    assert round(first["in_state_s"]["decode"]["WaitingForInput"], 3) == 0.5
    assert sum(first["flash_bytes_by_pool"].values()) == first["flash_bytes"]
    assert (first["session"], first["turn"], first["queue"]) == (3, 0, 1)
    assert sum(document["summary"]["flash_bytes_by_pool"].values()) == 6 * first["flash_bytes"]
