"""The published schema is the models' own, and says what the loader says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from lab.scenario.loader import listed
from lab.scenario.schema import schema, text
from tests.lab.scenario.files import GOOD

ROOT = Path(__file__).parents[3]


def test_the_published_schema_is_the_one_that_the_models_make() -> None:
    assert (ROOT / "scenarios" / "schema.json").read_text(encoding="utf-8") == text()


@pytest.mark.parametrize("path", listed(ROOT / "scenarios"), ids=lambda path: path.stem)
def test_every_shipped_scenario_fits_the_schema(path: Path) -> None:
    jsonschema.validate(YAML(typ="safe").load(path), schema())


@pytest.mark.parametrize("path", listed(ROOT / "scenarios"), ids=lambda path: path.stem)
def test_every_shipped_scenario_names_the_schema_that_an_editor_finds(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    marked, _, named = first.partition("$schema=")
    assert marked == "# yaml-language-server: "
    assert (path.parent / named).resolve() == ROOT / "scenarios" / "schema.json"


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("index_k: bf16", "index_k: bf61"),
        ("concurrency: 60", "concurrency: 0"),
        ("concurrency: 60", "hicache: 1"),
        ("concurrency: 60", "hicache_slot_page: 64"),
        ("concurrency: 60", "host_ratio: 0.9"),
        ("concurrency: 60", "dp: true"),
        ("concurrency: 60", "tp: 3"),
        ("concurrency: 60", "hardware: h100"),
        ("concurrency: 60", "waiting_timeout: 0"),
        ("concurrency: 60", "device: gpu"),
        ("target: bundled", "clock: slow"),
        ("verdict: clean", "verdict: cleen"),
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(was: str, becomes: str) -> None:
    good = YAML(typ="safe").load(GOOD)
    jsonschema.validate(good, json.loads(text()))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(YAML(typ="safe").load(GOOD.replace(was, becomes, 1)), schema())
