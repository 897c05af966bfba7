"""A toggle is a file, a key and a default that the engine agrees with."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

import lab.toggles
from engine.config import EngineConfig, ModelConfig
from engine.errors import ConfigError
from engine.runner.step_cost import PRESETS
from lab.registry import Registry
from lab.toggles import TOGGLES, defaults, to_engine_config

HELPERS = {"__init__", "domain", "engine_config", "registry"}


def test_every_file_is_one_toggle_of_its_name() -> None:
    stems = {path.stem for path in Path(lab.toggles.__file__).parent.glob("*.py")}
    assert sorted(stems - HELPERS) == list(TOGGLES.all())


def test_every_toggle_names_its_production_flag_in_its_docstring() -> None:
    folder = Path(lab.toggles.__file__).parent
    for key in TOGGLES.all():
        assert "Production flag: " in (folder / f"{key}.py").read_text(encoding="utf-8")


def test_the_engine_toggles_default_to_the_engine_s_own_defaults() -> None:
    config = to_engine_config(defaults())
    assert config == EngineConfig()


def test_every_engine_toggle_is_a_field_of_the_configuration() -> None:
    known = {field.name for field in fields(EngineConfig)} | {f.name for f in fields(ModelConfig)}
    assert {key for key, t in TOGGLES.all().items() if t.applies == "engine"} <= known


def test_the_engine_admits_as_many_requests_as_the_load_keeps_open() -> None:
    assert to_engine_config({**defaults(), "concurrency": 80}).max_running == 80
    assert to_engine_config({**defaults(), "concurrency": 1}).max_running == 64


def test_the_build_and_the_seed_are_handed_on() -> None:
    config = to_engine_config(defaults(), build=("a_defect",), seed=7)
    assert (config.build, config.seed) == (("a_defect",), 7)


def test_values_that_cannot_work_are_the_engine_s_error() -> None:
    with pytest.raises(ConfigError, match="chunked_prefill is 300"):
        to_engine_config({**defaults(), "chunked_prefill": 300})


def test_a_name_is_registered_once() -> None:
    registry: Registry[int] = Registry("number", "lab.toggles")
    assert registry.register("one")(1) == 1
    with pytest.raises(ValueError, match="number 'one' is registered twice"):
        registry.register("one")(2)


def test_whatever_an_operator_could_set_on_the_engine_is_a_toggle() -> None:
    assembly = {"max_running", "seed", "build", "model"}
    assert {field.name for field in fields(EngineConfig)} - assembly <= set(TOGGLES.all())


def test_the_hardware_is_any_that_the_engine_has_rates_of() -> None:
    assert TOGGLES.all()["hardware"].domain.options == tuple(PRESETS)


def test_what_only_a_pair_reads_needs_a_pair() -> None:
    alone = {key for key, t in TOGGLES.all().items() if t.needs == ("pd",)}
    assert alone == {
        *("wire", "workers", "queue_size", "wire_gb_per_s", "waiting_timeout"),
        *("bootstrap_timeout", "deferred_release", "metadata_slots", "decode_pool_pages"),
        *("decode_index_k", "tp"),
    }


@pytest.mark.parametrize("given", [0, -1, float("inf"), "300", 100_000])
def test_a_timeout_is_a_number_of_seconds(given: object) -> None:
    timeout = TypeAdapter(TOGGLES.all()["waiting_timeout"].domain.type)
    assert [timeout.validate_python(number) for number in (0.5, 300)] == [0.5, 300]
    with pytest.raises(ValidationError):
        timeout.validate_python(given)


@pytest.mark.parametrize("given", [False, 64, 100, "256"])
def test_a_whole_number_of_few_is_one_of_them(given: object) -> None:
    slot_page = TypeAdapter(TOGGLES.all()["hicache_slot_page"].domain.type)
    assert [slot_page.validate_python(number) for number in (128, 256)] == [128, 256]
    with pytest.raises(ValidationError):
        slot_page.validate_python(given)
