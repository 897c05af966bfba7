"""A request's statuses and slots."""

import pytest

from engine.errors import IllegalMove
from engine.request import LEGAL, Request, Status


def test_slots_follow_the_page_table() -> None:
    req = Request(1, [0] * 300, 10, pages=[7, 3])
    assert req.slot(0) == 7 * 256
    assert req.slot(255) == 7 * 256 + 255
    assert req.slot(256) == 3 * 256


@pytest.mark.parametrize("start", list(Status))
@pytest.mark.parametrize("to", list(Status))
def test_only_legal_moves_are_taken(start: Status, to: Status) -> None:
    req = Request(1, [0], 1, status=start)
    if to in LEGAL[start]:
        req.move(to)
        assert req.status is to
    else:
        with pytest.raises(IllegalMove, match=start.value):
            req.move(to)
        assert req.status is start


def test_an_ended_request_never_comes_back() -> None:
    assert not LEGAL[Status.FINISHED]
    assert not LEGAL[Status.ABORTED]
