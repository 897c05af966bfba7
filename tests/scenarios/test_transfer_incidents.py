"""Rooms that time out on a full link: whom their late writes hurt, and that the load hurts nobody.

Two shipped files over one load, at a size of seconds.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from lab.scenario.loader import capped, load_scenario
from tests.scenarios.dirty import Ran
from tests.scenarios.whole import ROOT, arms, run

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import Reply

DEFECT, LOAD = "pages_freed_under_a_write", "transfer_saturation"
SATURATED, LATE = "bf16, saturated", "late_write_into_owned_page"
SESSIONS = 12
SMALL = (
    "workload.preset=small",
    "workload.turns=4",
    "engine.pool_pages=120",
    "engine.decode_pool_pages=100",
    "engine.concurrency=12",
    "engine.workers=4",
    "engine.queue_size=4",
    "engine.wire_gb_per_s=0.015",
    "engine.waiting_timeout=4.0",
)


@functools.lru_cache(maxsize=8)
def ran(name: str, arm: str, seed: int = 0) -> Ran:
    """An arm at test size; equal arguments run once."""
    return Ran(*run(capped(load_scenario(file(name), SMALL), SESSIONS), arm, seed))


@functools.lru_cache(maxsize=8)
def whole(name: str, arm: str, seed: int = 0) -> Ran:
    """An arm as it is shipped."""
    return Ran(*run(load_scenario(file(name)), arm, seed))


def file(name: str) -> Path:
    """Where the incident's file lies."""
    return ROOT / "incidents" / f"{name}.yaml"


def late(of: Ran, who: str) -> set[int]:
    """The rooms that late writes name as ``writer_room`` or ``victim_room``."""
    return {
        fields[who]
        for _, kind, fields in of.history.events
        if kind == "violation" and fields["name"] == LATE
    }


def timed_out(of: Ran) -> set[int]:
    """The rooms that failed, all of them of their deadline."""
    failed = [room for room in of.history.rooms if room.outcome == "Failed"]
    assert {room.why for room in failed} == {"timed out in WaitingForInput"}
    return {room.room for room in failed}


def rooms_at_the_first_try(of: Ran) -> set[int]:
    """The rooms of replies that were asked for once: their client never saw a timeout of them."""
    return {room_of(reply) for reply in of.history.replies if reply.tries == 1}


def room_of(reply: Reply) -> int:
    """Rooms have their requests' numbers: 7 of ``chatcmpl-7``."""
    assert reply.request_id is not None
    return int(reply.request_id.rpartition("-")[2])


def exact(of: Ran) -> bool:
    """Whether every room that was handed over arrived as it left."""
    checked, succeeded = of.count("rooms_checked"), of.count("rooms_succeeded")
    return 0 < checked == succeeded and "room_bytes_differ" not in of.verdict.violations


def test_the_defect_fails_by_name_and_replies_show_it() -> None:
    found = ran(DEFECT, SATURATED)
    assert found.as_expected, found.verdict
    assert {*found.verdict.violations} == {LATE}
    assert found.verdict.replies_corrupt > 0


def test_the_writers_had_timed_out_and_their_victims_never_did() -> None:
    found = ran(DEFECT, SATURATED)
    writers, victims = late(found, "writer_room"), late(found, "victim_room")
    assert writers <= timed_out(found)
    assert victims
    assert not victims & timed_out(found)


def test_what_reads_wrong_is_a_victims_reply_and_some_of_them_were_asked_for_once() -> None:
    found = ran(DEFECT, SATURATED)
    victims = late(found, "victim_room")
    wrong = {
        room_of(reply)
        for reply in found.history.replies
        if reply.status == "ok" and reply.raw_text != reply.expected_text
    }
    assert wrong <= victims
    assert victims & rooms_at_the_first_try(found)


def test_the_report_names_the_room_that_wrote_and_the_room_that_was_hit() -> None:
    found = ran(DEFECT, SATURATED)
    said = " ".join(found.verdict.late_writes)
    assert all(f"room {writer} into room" in said for writer in late(found, "writer_room"))
    assert all(f"into room {room} " in said for room in late(found, "victim_room"))


def test_the_load_alone_times_out_and_every_room_that_was_handed_over_is_exact() -> None:
    found = ran(LOAD, SATURATED)
    assert found.as_expected, found.verdict
    assert found.verdict.violations == {}
    assert found.count("waiting_timeouts") > 0
    assert exact(found)


def test_the_load_alone_is_the_load_of_the_defect() -> None:
    broken, sound = (load_scenario(file(name)) for name in (DEFECT, LOAD))
    assert (sound.build, sound.workload, sound.engine) == ((), broken.workload, broken.engine)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_at_full_size_6_to_30_percent_of_sessions_are_corrupt(seed: int) -> None:
    """Seen in production: 12 to 18 of 100 sessions."""
    found = whole(DEFECT, SATURATED, seed)
    assert found.as_expected, found.verdict
    assert found.verdict.sessions == 60
    assert 4 <= found.verdict.sessions_corrupt <= 18
    assert late(found, "victim_room") & rooms_at_the_first_try(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_at_full_size_dozens_of_rooms_time_out_and_nothing_is_wrong(seed: int) -> None:
    """Seen in production: about 70 timeouts in WaitingForInput."""
    found = whole(LOAD, SATURATED, seed)
    assert found.clean, found.verdict
    assert 36 <= found.count("waiting_timeouts") <= 120
    assert exact(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arm"),
    [(name, arm) for name in (DEFECT, LOAD) for arm in arms(f"incidents/{name}")[1:]],
    ids=str,
)
def test_at_full_size_every_other_arm_concludes_what_its_file_expects(name: str, arm: str) -> None:
    found = whole(name, arm)
    assert found.as_expected, found.verdict
