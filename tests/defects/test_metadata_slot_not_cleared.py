"""metadata_slot_not_cleared: a check that is sound takes an old tag for damage, and aborts."""

from __future__ import annotations

from engine.defects import catalog
from tests.defects.quiet_pair import INSIDE, known, one_after_another

NAME = "metadata_slot_not_cleared"


def test_a_healthy_request_is_aborted_over_the_tag_of_the_room_before() -> None:
    served = one_after_another([NAME])
    assert served.said[0] == known()[0]
    assert "metadata corruption detected: the slot holds bootstrap_room 1" in str(served.said[1])
    assert {*served.names} == {*catalog()[NAME].evidence}
    assert [it["room"] for it in served.evidence] == [2, 3]


def test_the_alarm_is_false_and_nothing_is_destroyed() -> None:
    served = one_after_another([NAME])
    assert not any(name.startswith("violation:") for name in served.counters)
    assert not served.counters.get("late_writes_harmless", 0)


def test_where_the_slot_is_cleared_as_well_the_same_requests_are_served() -> None:
    served = one_after_another([])
    assert (served.said, served.evidence) == (known(), [])
    assert served.counters["metadata_waits"] == len(INSIDE)


def test_with_a_slot_for_every_room_there_is_no_old_tag() -> None:
    served = one_after_another([NAME], metadata_slots=8)
    assert (served.said, served.evidence) == (known(), [])
