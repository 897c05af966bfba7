"""A build names defects that exist, one for each seam, and each says where it comes from."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from engine import defects
from engine.defects import Defect, catalog
from engine.errors import ConfigError
from engine.seams import SEAMS, Seams

INCIDENTS = Path(__file__).parents[2] / "scenarios" / "incidents"
CATALOG = catalog()
EACH = pytest.mark.parametrize("fault", CATALOG.values(), ids=CATALOG)


def test_a_build_without_defects_is_healthy() -> None:
    assert defects.seams([]) == Seams()


def test_an_unknown_defect_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ConfigError, match=r"unknown defect 'nope'; known: .*index_k_under"):
        defects.seams(["nope"])


def test_two_defects_on_one_seam_are_refused_and_the_seam_is_named() -> None:
    with pytest.raises(ConfigError, match="both answer 'dead_rows'"):
        defects.seams(["padded_scatter_stale_slots", "padded_scatter_wraps_to_last_slot"])


def test_defects_on_different_seams_go_into_one_build() -> None:
    both = defects.seams(["index_k_under_allocated", "padded_scatter_stale_slots"])
    assert both.index_k_buffer is not Seams().index_k_buffer
    assert both.dead_rows is not Seams().dead_rows


def test_a_defect_named_twice_is_itself() -> None:
    once = defects.seams(["index_k_under_allocated"])
    assert defects.seams(["index_k_under_allocated"] * 2) == once


@EACH
def test_a_defect_replaces_its_seams_and_no_other(fault: Defect) -> None:
    build, healthy = defects.seams([fault.name]), Seams()
    changed = {f.name for f in fields(Seams) if getattr(build, f.name) != getattr(healthy, f.name)}
    assert changed == set(fault.answers) <= set(SEAMS)


@EACH
def test_a_defect_is_a_healthy_answer_with_something_changed(fault: Defect) -> None:
    for seam, cls in fault.answers.items():
        assert issubclass(cls, getattr(Seams(), seam)), seam


@EACH
def test_a_defect_says_origin_trigger_symptom_and_fix(fault: Defect) -> None:
    starts = [line.split(" ")[0] for line in fault.about.splitlines() if line[:1].strip()]
    assert starts[-4:] == ["Origin", "Trigger", "Symptom", "Fix"]


@EACH
def test_a_defect_names_the_violations_that_prove_it(fault: Defect) -> None:
    assert fault.evidence or fault.kind in ("amplifier", "dormant", "latent", "falsified")


def test_file_name_defect_name_and_scenario_name_are_one() -> None:
    files = Path(str(defects.__file__)).parent.glob("[!_]*.py")
    assert sorted(f.stem for f in files if f.stem != "registry") == list(CATALOG)
    # an incident without a defect is a load, and has an empty build
    incidents = {path.stem: YAML(typ="safe").load(path) for path in INCIDENTS.glob("*.yaml")}
    assert {name for name, text in incidents.items() if text["name"] != name} == set()
    broken = {name: text["build"] for name, text in incidents.items() if text.get("build")}
    assert broken == {name: [name] for name in CATALOG}
