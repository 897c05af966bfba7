"""A broken invariant is joined to the turn that it concerns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lab.joins import Turn
from lab.replaying.whose import Whose
from tests.lab.disaggregated import disaggregated
from tests.lab.replaying.arms import arm


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
def test_the_first_field_that_names_somebody_decides(
    fields: dict[str, Any], turn: Turn | None
) -> None:
    assert Whose(arm("any")).turn(fields) == turn


def test_a_room_is_its_turn_s_and_so_is_its_request() -> None:
    made = disaggregated("pair")
    ids = [f"chatcmpl-{room.request}" for room in made.rooms]
    told = replace(made, replies=[replace(it, request_id=ids[it.session]) for it in made.replies])
    assert Whose(told).turn({"room": 4}) == Turn(3, 0)
    assert Whose(told).turn({"victim": "request 1004"}) == Turn(3, 0)
