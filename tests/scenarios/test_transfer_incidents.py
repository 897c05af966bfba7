"""Rooms that time out on a full link: whom their late writes hurt, and that the load hurts nobody.

Two shipped files over one load, at a size of seconds, and as they are shipped.
"""

from __future__ import annotations

import time

import pytest

from engine.config import PAGE_TOKENS
from lab.scenario.loader import load_scenario
from lab.trial import run_arm
from tests.scenarios.paired import Incident, ran, shipped
from tests.scenarios.readers import first_wrong, reads, room_of, violations, wrong
from tests.scenarios.whole import ROOT, Ran, arms

SATURATED, LATE = "bf16, saturated", "late_write_into_owned_page"
DEFERRED, ALONE = "deferred release", "pd off"
SMALL = (
    "workload.preset=small",
    "workload.turns=1",
    "engine.pool_pages=120",
    "engine.decode_pool_pages=90",
    "engine.concurrency=8",
    "engine.workers=4",
    "engine.queue_size=4",
    "engine.wire_gb_per_s=0.015",
    "engine.waiting_timeout=4.0",
)
DEFECT = Incident("pages_freed_under_a_write", 8, SATURATED, DEFERRED, sets=SMALL)
LOAD = DEFECT._replace(name="transfer_saturation")
FILES = [f"incidents/{of.name}" for of in (DEFECT, LOAD)]


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


def bystanders(of: Ran) -> set[int]:
    """The sessions whose every turn was asked for once: none of their rooms ever failed."""
    asked = {reply.session for reply in of.history.replies}
    return asked - {reply.session for reply in of.history.replies if reply.tries > 1}


def exact(of: Ran) -> bool:
    """Whether every room that was handed over arrived as it left."""
    checked, succeeded = of.count("rooms_checked"), of.count("rooms_succeeded")
    return 0 < checked == succeeded and "room_bytes_differ" not in of.verdict.seen


def test_the_defect_fails_by_name_and_replies_show_it() -> None:
    found = ran(DEFECT, SATURATED)
    assert found.as_expected, found.verdict
    assert {*found.verdict.violations} >= DEFECT.evidence
    assert found.verdict.replies_corrupt > 0


def test_whoever_is_hurt_reads_a_foreign_row_by_its_first_wrong_token_and_hears_whose() -> None:
    found = ran(DEFECT, SATURATED)
    for reply in wrong(found):
        said = reads(found, room_of(reply))[0]
        assert said["name"] in {"read_foreign_row", "read_uninitialised_row"}
        assert said["output"] <= first_wrong(reply)
        writer = said["writer_room"]
        assert writer in timed_out(found)
        assert (said["writer_kind"], said["writer"]) == (
            "transfer",
            f"wire write of room {writer}",
        )
        assert said["edge"] == f"the release by request {writer} did not wait for {said['writer']}"


def test_pages_that_go_under_a_write_are_told_when_they_go() -> None:
    found = ran(DEFECT, SATURATED)
    writers = late(found, "writer_room")
    said = violations(found, "unordered_access")
    gone = {each["writer_room"] for each in said if "writer_room" in each}  # or a step read there
    assert writers <= gone <= timed_out(found)


def test_the_writers_had_timed_out_and_their_victims_never_did() -> None:
    found = ran(DEFECT, SATURATED)
    writers, victims = late(found, "writer_room"), late(found, "victim_room")
    assert writers <= timed_out(found)
    assert victims
    assert not victims & timed_out(found)


def test_what_reads_wrong_was_a_victim_and_some_of_it_is_of_sessions_that_never_lost_a_room() -> (
    None
):
    found = ran(DEFECT, SATURATED)
    assert {room_of(reply) for reply in wrong(found)} <= late(found, "victim_room")
    assert {reply.session for reply in wrong(found)} & bystanders(found)


def test_the_report_names_the_room_that_wrote_and_the_room_that_was_hit() -> None:
    found = ran(DEFECT, SATURATED)
    said = found.verdict.late_writes
    assert {write.writer_room for write in said} == late(found, "writer_room")
    assert {write.victim_room for write in said} == late(found, "victim_room")


def test_a_release_that_waits_for_the_writer_hurts_nobody_though_rooms_time_out() -> None:
    found = ran(DEFECT, DEFERRED)
    assert found.as_expected, found.verdict
    assert found.verdict.violations == {}
    assert found.count("waiting_timeouts") > 0
    assert found.count("deferred_room_releases") == found.count("rooms_failed")
    assert exact(found)


def test_one_engine_is_hurt_by_nobody_under_the_same_load() -> None:
    found = ran(DEFECT, ALONE)
    assert found.as_expected, found.verdict
    assert found.verdict.violations == {}


def test_the_load_alone_times_out_and_every_room_that_was_handed_over_is_exact() -> None:
    found = ran(LOAD, SATURATED)
    assert found.as_expected, found.verdict
    assert found.verdict.violations == {}
    assert found.count("waiting_timeouts") > 0
    assert exact(found)


def test_the_load_alone_is_the_load_of_the_defect() -> None:
    broken, sound = (load_scenario(ROOT / f"{file}.yaml") for file in FILES)
    assert (sound.build, sound.workload, sound.engine) == ((), broken.workload, broken.engine)


def test_a_prompt_takes_a_thread_a_second_and_a_half_and_50_conversations_fit() -> None:
    """What the files' comments say, seen in one session at the shipped settings."""
    found = ran(LOAD._replace(sessions=1, sets=()), SATURATED)
    set_to, rooms = found.history.settings, found.history.rooms
    assert set_to["workers"] * set_to["wire_gb_per_s"] == pytest.approx(0.24)
    crossing_s = [room.flash_bytes / 1e9 / set_to["wire_gb_per_s"] for room in rooms]
    assert 1.4 < min(crossing_s) <= max(crossing_s) < 1.9
    pages = -(-max(room.prompt for room in rooms) // PAGE_TOKENS)
    assert set_to["decode_pool_pages"] // pages == 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_bystanders_are_hurt_on_other_seeds(seed: int) -> None:
    found = ran(DEFECT, SATURATED, seed=seed)
    assert found.as_expected, found.verdict
    assert {reply.session for reply in wrong(found)} & bystanders(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_as_shipped_6_to_30_percent_of_sessions_are_corrupt(seed: int) -> None:
    """Seen in production: 12 to 18 of 100 sessions."""
    found = shipped(FILES[0], SATURATED, seed)
    assert found.as_expected, found.verdict
    assert found.verdict.sessions == 60
    assert 4 <= found.verdict.sessions_corrupt <= 18
    # hardly a session of 4 turns is spared every timeout here: what is wrong was asked for once
    assert any(reply.tries == 1 for reply in wrong(found))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_as_shipped_dozens_of_rooms_time_out_and_nothing_is_wrong(seed: int) -> None:
    """Seen in production: about 70 timeouts in WaitingForInput."""
    found = shipped(FILES[1], SATURATED, seed)
    assert found.clean, found.verdict
    assert 36 <= found.count("waiting_timeouts") <= 180
    assert exact(found)


@pytest.mark.slow
def test_as_shipped_a_deferred_release_lets_as_many_rooms_time_out_and_hurts_nobody() -> None:
    found = shipped(FILES[0], DEFERRED)
    assert found.clean, found.verdict
    assert found.count("waiting_timeouts") >= 36
    assert found.count("deferred_room_releases") == found.count("rooms_failed")
    assert exact(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arm"), [(name, arm) for name in FILES for arm in arms(name)[1:]], ids=str
)
def test_as_shipped_every_other_arm_concludes_what_its_file_expects(name: str, arm: str) -> None:
    found = shipped(name, arm)
    assert found.as_expected, found.verdict


def cpu_s(arm: str) -> float:
    """What an arm of the load takes, as shipped: the faster of two runs, in seconds of CPU."""
    file = load_scenario(ROOT / f"{FILES[1]}.yaml")
    [found] = [each for each in file.arms if each.name == arm]

    def once() -> float:
        began_s = time.process_time()
        run_arm(file, found, seed=0)
        return time.process_time() - began_s

    return min(once(), once())


@pytest.mark.slow
def test_as_shipped_a_saturated_pair_takes_at_most_twice_the_time_of_one_engine() -> None:
    assert cpu_s(SATURATED) <= 2.0 * cpu_s("bf16, pd off")
