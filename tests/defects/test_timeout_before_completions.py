"""timeout_before_completions: a receiver whose notes are there and were not read yet."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engine.defects import seams
from engine.disagg.rooms import KVPoll

NAME = "timeout_before_completions"
BUILDS = pytest.mark.parametrize("build", [[], [NAME]], ids=["healthy", "defect"])


@dataclass
class Fake:
    """A receiver: whether all notes are there, and whether its time is up."""

    arrived: bool
    expired: bool
    complete: bool = False  # as far as was drained

    def drain(self) -> None:
        self.complete = self.arrived


def state(build: list[str], arrived: bool, expired: bool) -> KVPoll:
    return seams(build).receiver_poll().state(Fake(arrived, expired))


def test_a_room_that_has_everything_fails_at_its_deadline() -> None:
    assert state([NAME], arrived=True, expired=True) is KVPoll.FAILED


def test_a_healthy_build_sees_that_it_has_everything() -> None:
    assert state([], arrived=True, expired=True) is KVPoll.SUCCESS


@BUILDS
def test_before_the_deadline_what_has_arrived_is_counted(build: list[str]) -> None:
    assert state(build, arrived=True, expired=False) is KVPoll.SUCCESS
    assert state(build, arrived=False, expired=False) is KVPoll.WAITING_FOR_INPUT


@BUILDS
def test_a_room_that_lacks_something_fails_at_its_deadline(build: list[str]) -> None:
    assert state(build, arrived=False, expired=True) is KVPoll.FAILED
