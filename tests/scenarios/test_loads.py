"""Each load on the healthy engine: it is exact, and it goes where it is meant to go.

The pools are small, so that prefixes are evicted between a session's turns.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from engine.config import PAGE_TOKENS
from lab.judging import judge_arm
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm
from lab.workloads import WORKLOADS, resolve
from tests.scenarios.whole import Ran

if TYPE_CHECKING:
    from lab.records import Reply

# another size, another form, or another model
APART = ("same_step", "determinism", "replay", "tool_tasks", "probe_sessions")
KINDS = [kind for kind in WORKLOADS.all() if kind not in APART]
P = PAGE_TOKENS


@dataclass(frozen=True)
class Arm(Ran):
    """A load driven at test size, and what was concluded."""

    @property
    def conclusion(self) -> tuple[str, str, dict[str, int]]:
        found = self.verdict
        return found.verdict, found.reason, found.violations

    def reply(self, session: int, turn: int) -> Reply:
        [found] = [r for r in self.history.replies if (r.session, r.turn) == (session, turn)]
        return found


def arm(kind: str, preset: str = "small_dirty", settings: str = "", build: str = "") -> Arm:
    """8 sessions of a load; equal arguments run once."""
    return _run(kind, preset, settings, build)


@functools.cache
def _run(kind: str, preset: str, settings: str, build: str) -> Arm:
    scenario = parse_scenario(
        f"name: loads\nbuild: [{build}]\n"
        f"workload: {{kind: {kind}, preset: {preset}, sessions: 8}}\n"
        f"arms: [{{name: one{settings}}}]\n",
        "loads.yaml",
    )
    history = run_arm(scenario, scenario.arms[0], seed=0)
    return Arm(history, judge_arm(history)[0])


CLEAN = ("clean", "", {})


@pytest.mark.parametrize("kind", KINDS)
def test_a_load_is_exact_though_its_prefixes_are_evicted(kind: str) -> None:
    ran = arm(kind)
    assert ran.conclusion == CLEAN
    assert ran.count("prefix_hits") > 0
    assert ran.count("evicted_pages") > ran.history.settings["pool_pages"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "same_step"])
def test_a_load_is_exact_without_a_prefix_cache(kind: str) -> None:
    preset = "burst" if kind == "same_step" else "small_dirty"
    ran = arm(kind, preset, ", radix: false")
    assert ran.conclusion == CLEAN
    assert ran.verdict.exposure["evicted_pages"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "same_step"])
@pytest.mark.parametrize("settings", [", concurrency: 1", ", overlap: true, index_k: bf16"])
def test_a_load_is_exact_one_at_a_time_and_a_step_ahead(kind: str, settings: str) -> None:
    preset = "burst" if kind == "same_step" else "small_dirty"
    assert arm(kind, preset, settings).conclusion == CLEAN


def test_a_session_that_returns_after_the_flood_computes_its_prefix_again() -> None:
    ran = arm("a_flood_a")
    for session in (0, 4):
        before, after = ran.reply(session, 0), ran.reply(session, 1)
        assert before.prompt_tokens > 8 * P
        assert after.cached_tokens == P  # the list of tools, which the flood keeps warm
        assert after.prompt_tokens > before.prompt_tokens


def test_the_flood_alone_is_larger_than_the_pool() -> None:
    for preset in ("small", "small_dirty"):
        ran = arm("a_flood_a", preset)
        flood = [ran.reply(session, 0) for session in range(8) if session % 4]
        assert sum(r.prompt_tokens for r in flood) > ran.history.settings["pool_pages"] * P


@pytest.mark.slow
def test_one_at_a_time_a_conversation_goes_on_warm_and_in_round_robin_cold() -> None:
    alone = ", concurrency: 1"
    warm, cold = (arm(kind, settings=alone) for kind in ("tool_sessions", "round_robin"))
    assert all(warm.reply(s, 1).cached_tokens > 8 * P for s in range(8))
    assert max(cold.reply(s, 1).cached_tokens for s in range(8)) < 4 * P


def test_the_second_twin_finds_whole_pages_of_the_first() -> None:
    ran = arm("twins", "small")
    for second in (1, 3, 5, 7):
        reply = ran.reply(second, 0)
        assert reply.cached_tokens == (reply.prompt_tokens - 1) // P * P


def test_a_prefix_is_reused_by_whole_pages_at_every_length() -> None:
    """Admitted one after the other: what is cached of P - 1, P and P + 1 tokens more."""
    ran = arm("prefix_lengths", settings=", concurrency: 1")
    plans = resolve("prefix_lengths", "small_dirty", {"sessions": 8}).plan(0)
    found = {plan.group: ran.reply(plan.index, 0).cached_tokens for plan in plans}
    assert found == {0: 2 * P, 1: 3 * P, 2: 3 * P, 3: 3 * P}


def test_a_burst_is_admitted_in_one_step_and_each_computes_the_prefix() -> None:
    ran = arm("same_step", "burst")
    assert ran.conclusion == CLEAN
    steps = [fields["chunks"] for _, kind, fields in ran.history.events if kind == "prefill"]
    assert steps == [4, 4, 4, 4]
    assert all(ran.reply(session, 0).cached_tokens <= P for session in range(8))
    assert all(ran.reply(session, 1).cached_tokens > P for session in range(8))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["prefix_lengths", "twins"])
def test_a_prefix_that_is_published_unwritten_is_read_by_who_shares_its_step(kind: str) -> None:
    ran = arm(
        kind, "small_dirty", ", chunked_prefill: 8192, pool_pages: 64", "publish_before_write"
    )
    assert {*ran.verdict.violations} == {"read_of_unwritten_row"}
    assert ran.verdict.replies_corrupt > 0
