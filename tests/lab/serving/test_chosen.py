"""Which engine `kvlab serve` serves: of the toggles, of a scenario, of one of its arms."""

from __future__ import annotations

from pathlib import Path

from engine.config import EngineConfig
from lab.serving.chosen import Asked, engine_config

INCIDENT = Path("padded_scatter_stale_slots")


def served(scenario: Path | None = None, arm: str | None = None, **more: object) -> EngineConfig:
    return engine_config(Asked(scenario, arm, **more))  # type: ignore[arg-type]


def test_without_a_scenario_it_is_a_healthy_engine_of_the_reference_size() -> None:
    config = served()
    assert (config.build, config.index_k, config.pool_pages) == ((), "fp8", 832)
    assert config.max_running >= 60


def test_toggles_are_set_as_run_sets_them() -> None:
    config = served(sets=["engine.index_k=bf16", "engine.concurrency=200"], seed=7)
    assert (config.index_k, config.max_running, config.seed) == ("bf16", 200, 7)


def test_a_small_engine_needs_no_small_load() -> None:
    config = served(sets=["engine.index_topk=16", "engine.pool_pages=32"])
    assert (config.model.index_topk, config.pool_pages) == (16, 32)


def test_a_scenario_s_engine_and_build_are_served_or_one_of_its_arms() -> None:
    whole, arm = served(INCIDENT), served(INCIDENT, "fp8, graph on")
    assert whole.build == arm.build == ("padded_scatter_stale_slots",)
    assert (whole.index_k, arm.index_k) == ("bf16", "fp8")


def test_defects_are_put_into_the_build_that_there_is() -> None:
    names = ("overlap_row_shift", "padded_scatter_stale_slots")
    assert served(defects=names).build == names
    assert served(INCIDENT, defects=names).build == names[::-1]
