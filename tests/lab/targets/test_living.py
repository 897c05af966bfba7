"""A server that does not answer after its arm has died only where replies are missing too."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest

from lab.judging import judge_arm
from lab.targets import failure, living
from lab.targets.remote import run_remote
from tests.lab.driver.sick import CARD, Caller, Tell, sick, well
from tests.lab.targets.remotes import server, stranger_task

if TYPE_CHECKING:
    from lab.records import ArmHistory


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two tries."""
    monkeypatch.setattr(living, "PAUSE_S", 0.0)


def unheard(times: int) -> Tell:
    """The list of models, which so many times after the first nobody gets."""
    asked = itertools.count()

    async def tell(caller: Caller) -> None:
        if 1 <= next(asked) <= times:
            return caller.reset()
        await caller.whole("200 OK", json.dumps({"data": [CARD]}).encode())

    return tell


async def refuses(caller: Caller) -> None:
    await caller.whole("500 Internal Server Error", b"oops")


def driven(tell: Tell, times: int) -> ArmHistory:
    with sick(tell, {"/v1/models": unheard(times)}) as it:
        return run_remote(stranger_task(turns=1), server(it.url))


@pytest.mark.parametrize("tell", [well, refuses])
def test_a_server_that_answers_when_it_is_asked_again_lives(tell: Tell) -> None:
    history = driven(tell, living.TRIES - 1)
    assert "engine_died" not in {kind for _, kind, _ in history.events}
    assert living.UNANSWERED not in judge_arm(history)[0].reason


def test_a_server_whose_replies_all_came_has_not_died_and_the_arm_says_what_did_not_come() -> None:
    history = driven(well, living.TRIES)
    verdict, _ = judge_arm(history)
    assert failure(history) is None
    assert (verdict.verdict, verdict.reason) == ("clean", living.UNANSWERED)


def test_a_server_that_never_answers_again_and_owes_replies_has_died() -> None:
    assert failure(driven(refuses, living.TRIES)) == f"the engine died: {living.GONE}"
