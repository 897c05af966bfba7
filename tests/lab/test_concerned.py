"""Events joined to the turns, and broken invariants to the sessions, that they concern."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lab.concerned import Whose, concerned, number_of
from lab.joins import Turn
from lab.records import ArmHistory
from tests.lab.disaggregated import disaggregated, late_write, retry
from tests.lab.replaying.arms import arm
from tests.lab.samples import history


def served(**fields: int | str) -> ArmHistory:
    """Session n was served as request 10 + n; session 3 heard no number. One invariant broke."""
    made = history("served", sessions=4, turns=1)
    made.replies = [
        replace(it, request_id=f"chatcmpl-{10 + it.session}" if it.session < 3 else None)
        for it in made.replies
    ]
    made.events.append((9, "violation", {"name": "of any name", "n": 1, **fields}))
    return made


@pytest.mark.parametrize(
    ("fields", "whose"),
    [
        ({"request": 11, "owner": "request 12"}, 1),
        ({"victim": "request 12"}, 2),
        ({"owner": "request 10", "page": 12}, 0),
        ({"request": 0, "owner": 12}, 2),
        ({"request": 13, "owner": "request 12"}, None),
        ({"owner": "cache", "writer_request": 11}, None),
        ({"pool": "c4", "page": 11}, None),
    ],
    ids=[
        "a reader before the owner of what it read",
        "a victim",
        "an owner",
        "request 0 is nobody's",
        "a reader whose client heard no number",
        "the cache, whoever wrote",
        "nobody",
    ],
)
def test_the_first_field_that_names_somebody_decides(
    fields: dict[str, int | str], whose: int | None
) -> None:
    assert concerned(served(**fields)) == {whose}


def test_a_room_s_client_is_known_by_its_reply_or_by_the_error_that_it_heard() -> None:
    made = disaggregated("pd")
    ids = {4: "chatcmpl-1005"}
    made.replies = [replace(it, request_id=ids.get(it.session)) for it in made.replies]
    made.events.append(retry(1, 4.0, "HTTP 500: room 2 failed after 4.000 s: why"))
    quiet = list(made.events)
    hit = {
        victim: concerned(replace(made, events=[*quiet, late_write(1, victim, 70)]))
        for victim in (2, 5, 6)
    }
    assert hit == {2: {1}, 5: {4}, 6: {None}}
    differs = (7, "violation", {"name": "room_bytes_differ", "n": 1, "room": 5})
    assert concerned(replace(made, events=[*quiet, differs])) == {4}


def test_without_a_broken_invariant_nobody_is_concerned() -> None:
    assert concerned(history("clean")) == set()


@pytest.mark.parametrize(
    ("fields", "turn"),
    [
        ({"request": 12, "owner": "request 21"}, Turn(1, 1)),  # who read counts before whose it is
        ({"owner": "request 21"}, Turn(2, 0)),
        ({"victim": "request 1", "writer_room": 4}, Turn(0, 0)),
        ({"session": 2, "turn": 1}, Turn(2, 1)),
        ({"owner": "cache"}, None),
        ({"request": 99}, None),
        ({"page": 12}, None),
    ],
)
def test_an_event_is_joined_to_a_turn_by_the_first_field_that_names_somebody(
    fields: dict[str, Any], turn: Turn | None
) -> None:
    assert Whose(arm("any")).turn(fields) == turn


def test_a_room_is_its_turn_s_and_so_is_its_request() -> None:
    made = disaggregated("pair")
    ids = [f"chatcmpl-{room.request}" for room in made.rooms]
    told = replace(made, replies=[replace(it, request_id=ids[it.session]) for it in made.replies])
    assert Whose(told).turn({"room": 4}) == Turn(3, 0)
    assert Whose(told).turn({"victim": "request 1004"}) == Turn(3, 0)


def test_a_number_is_a_field_s_own_or_that_of_the_request_that_it_names() -> None:
    assert [number_of(it) for it in (7, "request 7", "cache", None)] == [7, 7, 0, 0]


def test_requests_are_known_by_the_numbers_that_clients_heard() -> None:
    assert Whose(served()).requests == {10: Turn(0, 0), 11: Turn(1, 0), 12: Turn(2, 0)}
