"""Damage joined to replies, the strongest join first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.explaining.divergence import first_wrong
from lab.explaining.evidence import Evidence, Met
from lab.records import Reply
from tests.lab.explaining.histories import NS, Told, arm, bad, fault, good, read, violation

PADDED = "padded_row_wrote_owned_slot"


def met(reply: Reply, *events: Told, earlier: tuple[Reply, ...] = ()) -> Met:
    return Evidence(arm(*earlier, reply, events=events)).met(reply, first_wrong(reply))


def test_a_read_of_the_reply_s_own_request_comes_before_anything_else() -> None:
    write = violation(PADDED, 0.4, owner="request 2", page=3)
    found = met(bad(0, 1, 6), write, read("read_foreign_row", by=2, output=4))
    assert (found.how, found.damage and found.damage.name) == ("read", "read_foreign_row")


def test_a_read_counts_by_the_token_that_it_computed_whatever_the_clock_says() -> None:
    at, kind, fields = read("read_foreign_row", by=2, output=6)
    late = (at + NS, kind, fields)
    assert met(bad(0, 1, 6), late).how == "read"
    assert met(bad(0, 1, 5), late).how == "none"


def test_reads_up_to_the_wrong_token_are_kept_and_the_last_with_its_place_is_shown() -> None:
    plain = violation("read_of_unwritten_row", 0.9, request=2, page=245)
    layers = [read("read_uninitialised_row", by=2, output=n, layer=n) for n in (1, 2, 9)]
    found = met(bad(0, 1, 6), plain, *layers)
    assert found.damage is not None and found.damage.fields["layer"] == 2
    assert [it.name for it in found.reads].count("read_uninitialised_row") == 2


def test_a_read_beside_the_wrong_token_counts_before_one_at_the_beginning() -> None:
    reads = [read("read_foreign_row", by=2, output=n, layer=n % 7) for n in (0, 211)]
    wrong = first_wrong(bad(0, 1, 6))
    assert wrong is not None
    made = arm(bad(0, 1, 6), events=tuple(reads))
    found = Evidence(made).met(made.replies[0], replace(wrong, index=212))
    assert found.damage is not None and found.damage.number("output") == 211
    assert len(found.reads) == 2


def test_of_the_rows_that_a_step_read_it_is_the_first() -> None:
    layers = [read("read_foreign_row", by=2, output=4, layer=n) for n in (3, 5)]
    found = met(bad(0, 1, 6), *layers)
    assert found.damage is not None and found.damage.fields["layer"] == 3


@pytest.mark.parametrize(
    "fields", [{"owner": "request 2"}, {"victim": "request 2"}, {"victim_room": 2}, {"room": 2}]
)
def test_a_write_is_the_reply_s_own_where_it_names_its_request(fields: dict[str, object]) -> None:
    assert met(bad(0, 1, 6), violation("some_write", 0.9, **fields)).how == "own"


def test_a_write_after_the_wrong_token_explains_nothing() -> None:
    before = violation(PADDED, 1.05, owner="request 2")
    after = violation(PADDED, 1.07, owner="request 2")
    assert met(bad(0, 1, 6), before).how == "own"
    assert met(bad(0, 1, 6), after).how == "none"


def test_a_token_that_went_astray_hurts_who_got_it_and_who_lost_it() -> None:
    given = violation("token_of_another_row", 1.06, request=2, owner=11, row=4)
    assert met(bad(0, 1, 6), given).how == "own"
    assert met(bad(1, 0, 6), given).how == "own"
    assert met(bad(2, 0, 6), given).how == "arm"


def test_of_many_astray_tokens_it_is_the_one_that_came_last() -> None:
    given = [violation("token_of_another_row", at, request=2, owner=11) for at in (1.0, 1.06, 1.2)]
    found = met(bad(0, 1, 6), *given)
    assert found.damage is not None and found.damage.at_ns == round(1.06 * NS)


def test_damage_of_an_earlier_turn_is_in_the_prefix_and_an_astray_token_is_not() -> None:
    earlier = (good(0, 0, 0.2),)
    write = violation(PADDED, 0.9, owner="request 1")
    assert met(bad(0, 1, 6), write, earlier=earlier).how == "prefix"
    assert met(bad(0, 1, 6), read("read_foreign_row", by=1), earlier=earlier).how == "prefix"
    astray = violation("token_of_another_row", 0.9, request=1, owner=99)
    assert met(bad(0, 1, 6), astray, earlier=earlier).how == "arm"


def test_a_wrong_copy_is_joined_to_who_took_its_prefix_from_the_host() -> None:
    copy = violation("restored_page_differs", 0.95, pool="index_k", page=7, host_page=9)
    restore: tuple[Told, ...] = (
        (round(0.9 * NS), "restore", {"node": 4, "pages": 8}),
        (round(0.9 * NS), "admit", {"request": 2, "cached": 2048, "pages": 9}),
    )
    assert met(bad(0, 1, 6), *restore, copy).how == "restored"
    assert met(bad(0, 1, 6), restore[1], copy).how == "arm"


def test_of_wrong_copies_made_before_it_is_one_of_the_session_s_own_time() -> None:
    copies = [
        violation("page_changed_under_backup", at, pool="swa", page=at) for at in (0.1, 0.3, 0.8)
    ]
    admits: tuple[Told, ...] = (
        (round(0.2 * NS), "admit", {"request": 1, "cached": 0, "pages": 9}),
        (round(0.9 * NS), "restore", {"node": 4, "pages": 8}),
        (round(0.9 * NS), "admit", {"request": 2, "cached": 2048, "pages": 9}),
    )
    earlier = replace(good(0, 0, 0.25), done_s=0.5)
    found = met(bad(0, 1, 6), *copies, *admits, earlier=(earlier,))
    assert (found.how, found.damage and found.damage.at_ns) == ("restored", round(0.3 * NS))


def test_a_reply_that_failed_has_its_own_room_s_fault_or_the_arm_s_last() -> None:
    lost = replace(
        good(0, 1), status="transport_error", error="HTTP 500: room 2 failed", done_s=2.0
    )
    mine, other = fault("room_failed_though_complete", room=2), fault("no_progress", 0.7)
    assert Evidence(arm(lost, events=(mine, other))).failed(lost).how == "own"
    assert Evidence(arm(lost, events=(other,))).failed(lost).how == "arm"
    assert Evidence(arm(lost)).failed(lost) == Met(None, "none")
