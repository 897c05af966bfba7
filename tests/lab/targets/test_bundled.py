"""From a scenario to an arm's history and its verdict, over engines that stand in for the real one.

The real engine's own arms are in ``tests/scenarios``; here the engine follows, garbles, hangs or
dies, and the arm must say so.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from engine import clock
from engine.events import EventLog
from lab.errors import TargetError
from lab.judging import judge_arm
from lab.scenario.loader import parse_scenario
from lab.targets import bundled, failure
from lab.trial import run_arm
from tests.lab.driver.followers import Follower, Saying, flips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import EngineConfig
    from lab.records import ArmHistory

SCENARIO = """
name: stand_in
workload: {kind: tool_sessions, preset: small, sessions: 3}
engine: {radix: false, graph: false}
arms:
  - {name: one}
  - {name: leaving, abort_rate: 1.0}
"""


class StandIn(Follower):
    """A follower with what the target asks of an engine."""

    def __init__(self, config: EngineConfig) -> None:
        super().__init__()
        self.config, self.events = config, EventLog(clock.now_ns)
        self.events.count("violation:nothing", 0)

    async def stop(self) -> None:
        self.events.emit("stopped")


class Garbling(StandIn):
    def __init__(self, config: EngineConfig) -> None:
        super().__init__(config)
        self.garble = flips(Random(0), 0.05)


class Hanging(StandIn):
    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str]) -> Saying:
        handle = super().submit(prompt, max_tokens, stop)
        handle.step_s = 1e6
        return handle


class Dying(StandIn):
    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str]) -> Saying:
        raise RuntimeError("out of memory")


class TooLarge(StandIn):
    def __init__(self, config: EngineConfig) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory:\nyou tried 9 EB")


class TooLargeForPython(StandIn):
    def __init__(self, config: EngineConfig) -> None:
        raise MemoryError


class DyingHalfWay(StandIn):
    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str]) -> Saying:
        if len(self.handles) == 2:
            self.died = RuntimeError("CUDA error:\nillegal access")
            raise self.died
        return super().submit(prompt, max_tokens, stop)


def ran(
    monkeypatch: pytest.MonkeyPatch, engine: type[StandIn], arm: int = 0, seed: int = 0
) -> ArmHistory:
    monkeypatch.setattr(bundled, "open_engine", engine)
    scenario = parse_scenario(SCENARIO, "stand_in.yaml")
    return run_arm(scenario, scenario.arms[arm], seed)


def verdict(history: ArmHistory) -> str:
    return judge_arm(history)[0].verdict


def test_a_healthy_arm_is_clean_and_its_history_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    history = ran(monkeypatch, StandIn)
    assert verdict(history) == "clean"
    assert (history.name, history.sessions, len(history.replies)) == ("one", 3, 6)
    assert history.settings["pool_pages"] == 48
    assert history.virtual_s == max(reply.done_s or 0.0 for reply in history.replies)
    kinds = [kind for _, kind, _ in history.events]
    assert kinds[:2] == ["server_info", "tools_offered"]
    assert kinds.count("reply") == 6
    assert kinds[-1] == "stopped"


def test_one_seed_one_digest_and_another_seed_another(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = [ran(monkeypatch, StandIn, seed=seed).history_digest for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]
    assert digests[0].startswith("sha256:")


def test_a_garbling_engine_is_corrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict(ran(monkeypatch, Garbling)) == "corrupt"


def test_a_hanging_engine_is_wedged(monkeypatch: pytest.MonkeyPatch) -> None:
    history = ran(monkeypatch, Hanging)
    assert verdict(history) == "wedged"
    assert {reply.status for reply in history.replies} == {"timeout", "not_sent"}


def test_an_engine_that_served_nothing_is_the_targets_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    why = failure(ran(monkeypatch, Dying))
    assert why is not None and why.startswith("the engine served nothing: ")
    assert "500" in why


def test_an_engine_that_dies_half_way_leaves_what_it_served_and_its_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = ran(monkeypatch, DyingHalfWay)
    assert {reply.status for reply in history.replies} == {"ok", "transport_error", "not_sent"}
    assert failure(history) == "the engine died: RuntimeError: CUDA error: illegal access"


@pytest.mark.parametrize("engine", [TooLarge, TooLargeForPython])
def test_an_engine_that_cannot_start_is_one_line(
    monkeypatch: pytest.MonkeyPatch, engine: type[StandIn]
) -> None:
    with pytest.raises(TargetError, match=r"^arm 'one': the engine did not start: .*") as caught:
        ran(monkeypatch, engine)
    assert "\n" not in str(caught.value)


def test_a_pair_that_hands_nothing_over_is_an_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    history = ran(monkeypatch, Dying)
    error = "HTTP 500: room 7 failed after 4.000 s: timed out in WaitingForInput"
    rooms = [replace(reply, error=error) for reply in history.replies]
    assert failure(replace(history, replies=rooms)) is None


def test_rooms_that_fail_do_not_excuse_an_engine_that_answers_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = ran(monkeypatch, Dying)
    assert failure(replace(history, counters={"rooms_failed": 1, "rooms": 60})) is not None


def test_a_wedge_or_a_garble_is_not_the_targets_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert failure(ran(monkeypatch, Hanging)) is None
    assert failure(ran(monkeypatch, Garbling)) is None


def test_clients_that_all_leave_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    history = ran(monkeypatch, StandIn, arm=1)
    found, _ = judge_arm(history)
    assert (found.verdict, found.replies_due) == ("inconclusive", 0)
    assert history.counters["clients_left"] == 3


def test_progress_is_told_after_every_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "open_engine", StandIn)
    scenario = parse_scenario(SCENARIO, "stand_in.yaml")
    told: list[Any] = []
    run_arm(scenario, scenario.arms[0], 0, lambda done, due: told.append((done, due)))
    assert told == [(done, 6) for done in range(1, 7)]
