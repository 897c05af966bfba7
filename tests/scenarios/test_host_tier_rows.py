"""Of each fault of the host tier: the row that a corrupt reply was computed from is told, with its
name, its writer and what was not waited for, at or before the reply's first wrong token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.scenarios.dirty import dirty
from tests.scenarios.readers import first_wrong, reads, room_of, violations, wrong
from tests.scenarios.test_prefix_incidents import INCIDENTS, ran

if TYPE_CHECKING:
    from lab.records import Reply
    from tests.scenarios.whole import Ran


class Fault(NamedTuple):
    """A defect, what a reader of its rows is told: parts of the writer and of the edge."""

    name: str
    read: str
    writer: str = ""
    edge: str = ""

    @property
    def ran(self) -> Ran:
        """Its failing arm at test size."""
        arm = {"host_mirror_sized_as_fp8": "bf16, hicache on"}.get(self.name, "bf16, dsa")
        for of in INCIDENTS:
            if of.name == self.name:
                return ran(of, of.bad)
        return dirty(f"incidents/{self.name}", arm)


FAULTS = (
    Fault("host_mirror_sized_as_fp8", "read_uninitialised_row", "prefill step"),
    Fault("dsa_mirror_by_class_dtype", "read_uninitialised_row", "prefill step"),
    Fault(
        "backup_races_compute",
        "read_uninitialised_row",
        ", which backup",
        "did not wait for backup",
    ),
    Fault("load_into_page_in_use", "read_stale_generation", "load 3 of host page"),
    Fault(
        "host_page_reused_before_load_ack",
        "read_foreign_row",
        "after it was handed to another",
        "did not wait for load 1",
    ),
    Fault("evicted_though_backup_failed", "read_uninitialised_row", "which no backup filled"),
    Fault(
        "index_k_read_before_load", "read_during_load", "load 1", "index_k did not wait for load 1"
    ),
)
EACH = pytest.mark.parametrize("of", FAULTS, ids=lambda of: of.name)


@EACH
def test_a_corrupt_reply_read_a_row_that_was_told_by_its_first_wrong_token(of: Fault) -> None:
    found = of.ran
    assert wrong(found)
    for reply in wrong(found):
        assert told(found, reply), reply.request_id


@EACH
def test_the_first_row_names_its_writer_and_what_was_not_waited_for(of: Fault) -> None:
    first = next(each for each in violations(of.ran, "read_") if "reader" in each)
    assert first["name"] == of.read
    assert of.writer in first["writer"]
    assert of.edge in first.get("edge", "")
    assert bool(of.edge) == ("edge" in first)


def test_a_mirror_too_small_leaves_the_rows_that_it_has_no_room_for() -> None:
    found = FAULTS[0].ran
    assert {(each["pool"], each["n"]) for each in violations(found, "read_")} == {("index_k", 31)}
    differing = violations(found, "restored_page_differs")
    assert {(each["writer_kind"], each["rows_left"]) for each in differing} == {("load", 31)}


def test_a_read_that_did_not_wait_says_for_which_load() -> None:
    [of] = [of for of in INCIDENTS if of.name == "index_k_read_before_load"]
    found = violations(ran(of, of.bad), "")
    assert {each["name"] for each in found} == {"read_before_load", "read_during_load"}
    assert found[0]["edge"] == "the read of index_k did not wait for load 1"
    assert (found[0]["writer"], found[0]["writer_kind"]) == ("load 1", "load")


def told(of: Ran, reply: Reply) -> bool:
    """Whether a bad read of a reply's request was told no later than its first wrong token."""
    mine = reads(of, room_of(reply))
    return any(each.get("output", 0) <= first_wrong(reply) for each in mine)
