"""The shipped files under the probe: no entry idle unless it says so, and every reply has room."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from engine.probe.kernels import CONTEXT
from lab.placing.judge import ids_of
from lab.probing.conversations import whole
from lab.scenario.loader import load_scenario
from lab.workloads import resolve
from lab.workloads.probe_sessions import ProbeSessions
from tests.scenarios.whole import ROOT

FILES = sorted((ROOT / "real").glob("probe_*.yaml"))
SAYS_SO = re.compile(r"^ +entries: \d+ # .*asked for", re.MULTILINE)


@cache
def workload(file: Path) -> ProbeSessions:
    asked = load_scenario(file).workload
    found = resolve(asked.kind, asked.preset, asked.options | {"sessions": asked.sessions})
    assert isinstance(found, ProbeSessions)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_entry_of_a_manual_is_asked_for_or_the_file_says_that_it_is_not(file: Path) -> None:
    """Damage to an entry that nobody asks for is silent."""
    load = workload(file)
    idle = load.entries - load.first_asked
    assert bool(idle) == bool(SAYS_SO.search(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_last_reply_of_the_longest_session_has_room(file: Path) -> None:
    load, engine = workload(file), load_scenario(file).engine
    for plan in load.plan(0)[:1]:  # others differ by a few tokens
        prompt = len(whole(plan).ids) - len(ids_of(plan.turns[-1].expected_text))
        assert prompt + load.max_tokens <= (engine.get("max_model_len") or CONTEXT)
