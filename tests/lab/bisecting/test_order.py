"""What a bisection was asked for, and what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.bisecting.order import Order, fixed, least, order_of, ordered, parameters
from lab.errors import UserError
from lab.scenario.loader import load_scenario
from tests.lab.bisecting.simulated import CAMPAIGN, write

PAIR = """\
constraints:
  queue_size: {pd: true}
bisect: {budget: 700, p_min: 0.05, batch: 4, unit: boot, weights: {pd: 2.0, graph: 2.0}}
"""


def file(folder: Path, more: str = "") -> Path:
    flips = "  pd: {bad: true, good: false}\n  queue_size: {bad: 2, good: 64}\nseed: 3\n"
    return write(folder, CAMPAIGN.replace("seed: 3\n", flips) + more)


def test_an_order_survives_the_database() -> None:
    order = Order("ddmin", 300, "boot", "wedged", ("pd", "graph"), True, ("seed=1",), 6, 2**40)
    assert order_of(order.stored()) == order
    assert order_of(Order().stored()) == Order()
    assert Order().given == []


def test_the_order_goes_before_the_file_and_the_file_before_the_defaults(tmp_path: Path) -> None:
    whole = ordered(file(tmp_path, PAIR), Order())
    params = parameters(whole, Order(budget=900))
    assert (params.budget, params.p_min, params.batch, params.unit) == (900, 0.05, 4, "boot")
    assert (params.p_tol, params.seed) == (0.01, 3)
    assert parameters(whole, Order(unit="session")).unit == "session"
    assert parameters(whole, Order()).budget == 700


def test_what_is_fixed_is_good_for_ever_and_so_is_what_needs_it(tmp_path: Path) -> None:
    scenario = fixed(ordered(file(tmp_path, PAIR), Order()), ("pd",))
    assert list(scenario.toggles) == ["index_k", "graph", "overlap", "concurrency"]
    assert (scenario.engine["pd"], scenario.engine["queue_size"]) == (False, 64)
    assert (scenario.constraints, scenario.bisect.weights) == ({}, {"graph": 2.0})


def test_a_key_that_cannot_be_fixed_is_one_line(tmp_path: Path) -> None:
    whole = ordered(write(tmp_path), Order())
    with pytest.raises(UserError) as caught:
        fixed(whole, ("grpah",))
    accepted = "accepted: index_k, graph, overlap, concurrency (did you mean 'graph'?)"
    assert str(caught.value) == f"--fix grpah: not on offer in `toggles`; {accepted}"
    typed = "^--fix index_k --fix graph --fix overlap --fix concurrency: leaves no toggle to flip"
    with pytest.raises(UserError, match=typed):
        fixed(whole, tuple(whole.toggles))


def test_the_least_budget_is_that_of_a_clean_arm_in_whole_trials(tmp_path: Path) -> None:
    params = parameters(ordered(write(tmp_path), Order()), Order())
    assert least(replace(params, unit="session"), 10) == 230
    assert least(replace(params, unit="boot"), 10) == 2280
    assert least(params, 1) == 228
    assert least(params, 10) == 430  # more boots, as their sessions may correlate


def test_ends_that_cannot_be_run_are_a_mistake_of_who_bisects_and_not_of_who_runs(
    tmp_path: Path,
) -> None:
    text = """
name: peers
workload: {kind: tool_sessions, preset: small}
engine: {pd: true, index_k: bf16}
arms: [{name: alike}]
toggles:
  decode_index_k: {bad: fp8, good: bf16}
  graph: {bad: true, good: false}
"""
    file = tmp_path / "peers.yaml"
    file.write_text(text, encoding="utf-8")
    assert [arm.name for arm in load_scenario(file).arms] == ["alike"]
    said = r"peers.yaml: toggles.decode_index_k.bad: .*the pair refuses"
    with pytest.raises(UserError, match=said):
        ordered(file, Order())


def test_what_goes_by_a_wall_clock_or_needs_another_machine_is_not_searched(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="clock: a search runs trials again, which no wall clock"):
        ordered(write(tmp_path), Order(sets=("clock=wall",)))
    elsewhere = Order(sets=("engine.device=cuda:99",))
    with pytest.raises(UserError, match=r"engine.device: device is 'cuda:99': .* accepted: cpu"):
        ordered(write(tmp_path), elsewhere)
