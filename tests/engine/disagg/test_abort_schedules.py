"""A thousand random abort schedules: at rest both sides hold nothing, and nobody was written over.

A schedule is three to eight requests on tight pools of which about two thirds are to be aborted, at
any moment of their rooms' lives. The thousand take a minute on one core.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.disagg.aborts import storm
from tests.engine.disagg.schedules import EACH, SETTINGS, setting, title

STAGES = {
    "prealloc",
    "prefill Bootstrapping",
    "prefill WaitingForInput",
    "first chunk computed",
    "prefill Transferring",
    "posted",
    "row",
}


@pytest.mark.parametrize(
    ("number", "toggles"),
    list(enumerate(SETTINGS)),
    ids=[title(toggles) for toggles in SETTINGS],
)
def test_fifty_abort_schedules_leave_nothing_behind(number: int, toggles: dict[str, Any]) -> None:
    seen = storm(setting(number, **toggles), range(number * EACH, (number + 1) * EACH))
    assert seen.finished > EACH // 2
    assert set(seen.stages) >= STAGES
    timeouts = "waiting_timeout" in toggles or "bootstrap_timeout" in toggles
    assert bool(seen.failed) == timeouts


def test_the_schedules_are_a_thousand() -> None:
    assert EACH * len(SETTINGS) == 1000
