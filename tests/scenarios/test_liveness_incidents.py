"""The incidents in which nothing gets on, or too little, and no byte is wrong: whole runs.

Each shipped file at a size of seconds, with the same seed and load on both builds.
"""

from __future__ import annotations

import pytest

from lab.records import ArmHistory
from tests.scenarios.paired import Incident, healthy, ran
from tests.scenarios.whole import arms

WALL_S = 10.0  # of a run of more than 300 virtual seconds: it takes one or two

ABORT = Incident(
    name="abort_kills_bootstrap",
    sessions=6,
    bad="pd, clients leave",
    cure="pd, nobody leaves",
    seed=1,
    # the file's hosts and contexts, smaller; a wire on which a room is open for a second
    sets=("workload.preset=small", "engine.concurrency=8", "engine.wire_gb_per_s=0.02"),
)
SKIP = Incident(
    name="rank_skips_collective",
    sessions=4,
    bad="tp 2, overlap on",
    cure="tp 1, overlap on",
)
LATE = Incident(
    name="timeout_before_completions",
    sessions=4,
    bad="due at the deadline",
    cure="one at a time",
)
ALL, WEDGED = (ABORT, SKIP, LATE), (ABORT, SKIP)
EACH = pytest.mark.parametrize("of", ALL, ids=lambda of: of.name)
EACH_WEDGE = pytest.mark.parametrize("of", WEDGED, ids=lambda of: of.name)


def first_word(history: ArmHistory) -> list[str]:
    """Who waits, phrase by phrase, when the engine first said that nothing gets on."""
    words = [fields["waiting"] for _, kind, fields in history.events if kind == "no_progress"]
    return str(words[0]).split("; ")


@EACH
def test_the_failing_arm_concludes_what_its_file_expects_by_name(of: Incident) -> None:
    found = ran(of, of.bad)
    assert found.as_expected, found.verdict
    assert {*found.verdict.seen} == of.evidence


@EACH
def test_the_same_load_on_a_healthy_build_is_clean(of: Incident) -> None:
    found = healthy(of)
    assert found.clean, found.verdict
    assert found.verdict.unfinished == 0


@EACH
@pytest.mark.parametrize("build", ["defect", "healthy"])
def test_no_byte_is_wrong_on_either_build(of: Incident, build: str) -> None:
    found = ran(of, of.bad) if build == "defect" else healthy(of)
    assert found.verdict.replies_corrupt == 0
    assert found.moved("violation:") == {}
    assert found.count("rooms_checked") == found.count("rooms_succeeded") > 0


@pytest.mark.parametrize(
    "of", [ABORT, LATE, pytest.param(SKIP, marks=pytest.mark.slow)], ids=lambda of: of.name
)
def test_an_arm_cures_it(of: Incident) -> None:
    found = ran(of, of.cure)
    assert found.as_expected, found.verdict
    assert found.clean


@EACH_WEDGE
def test_a_wedge_ends_in_seconds_of_wall_time_after_its_virtual_timeouts(of: Incident) -> None:
    found = ran(of, of.bad)
    assert found.history.virtual_s > 300.0
    assert found.history.wall_s < WALL_S


@EACH_WEDGE
def test_turns_that_never_ended_count_as_unfinished(of: Incident) -> None:
    found = ran(of, of.bad)
    finished = sum(reply.due and reply.status == "ok" for reply in found.history.replies)
    assert found.verdict.unfinished == found.verdict.replies_due - finished > 0


def test_the_bootstrap_loops_death_is_the_first_thing_said_and_rooms_wait_for_it() -> None:
    found = ran(ABORT, ABORT.bad)
    cause, *rooms = first_word(found.history)
    assert cause.startswith("prefill's bootstrap loop died at ")
    assert cause.endswith(" s of AssertionError: ABORT is not NixlMsgGuard")
    assert rooms[0].startswith("prefill: Bootstrapping, waiting for the decode side to name its")
    assert cause in found.verdict.reason
    assert found.verdict.reason.startswith("nothing got on after ")


def test_both_ranks_are_named_with_their_collectives_and_since_when() -> None:
    found = ran(SKIP, SKIP.bad)
    first, second, *_ = first_word(found.history)
    for rank, said in enumerate((first, second)):
        assert said.startswith(f"rank {rank} of decode waits in ")
        assert f" for rank {1 - rank}, which came to " in said
    assert first.split(" since ")[1].split(" for ")[0] in second
    assert first in found.verdict.reason


def test_ranks_that_agree_first_lose_the_room_and_no_turn() -> None:
    found = healthy(SKIP)
    assert found.count("rooms_failed") > 0
    assert found.count("client_retries") == found.count("rooms_failed")


def test_rooms_whose_bytes_had_all_landed_are_those_that_a_healthy_build_serves() -> None:
    bad, good = ran(LATE, LATE.bad), healthy(LATE)
    failed = bad.history.counters["fault:room_failed_though_complete"]
    assert failed == bad.count("rooms_failed") == bad.verdict.unfinished > 0
    assert good.count("rooms_succeeded") == good.count("rooms")


@pytest.mark.parametrize(
    ("of", "arm"),
    [
        pytest.param(of, arm, marks=pytest.mark.slow)
        for of in ALL
        for arm in arms(f"incidents/{of.name}")
        if arm not in (of.bad, of.cure)
    ],
    ids=str,
)
def test_an_arm_concludes_what_its_file_expects(of: Incident, arm: str) -> None:
    found = ran(of, arm)
    assert found.as_expected, found.verdict
