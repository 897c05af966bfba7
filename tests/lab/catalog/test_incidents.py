"""Every defect and every file is an entry, and says what a reader needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.defects import catalog as defects
from lab.catalog import Catalog
from lab.catalog.incidents import HYPOTHESES, INCIDENTS, Incident, guarantee, incidents
from lab.scenario.loader import SHIPPED, listed
from tests.lab.scenario.files import write

LOADS = {path.stem for path in listed(SHIPPED / INCIDENTS)} - set(defects())


def entry(table: Catalog, name: str) -> Incident:
    (found,) = [it for it in table.incidents if it.name == name]
    return found


def test_every_defect_and_every_incident_file_is_an_entry(table: Catalog) -> None:
    names = [it.name for it in table.incidents]
    files = [path.stem for path in listed(SHIPPED / INCIDENTS)]
    assert {*files, *defects()} <= {*names} and len(names) == len({*names})


@pytest.mark.parametrize("name", defects())
def test_a_defect_says_mechanism_trigger_symptom_origin_and_fix(name: str, table: Catalog) -> None:
    it = entry(table, name)
    assert all((it.mechanism, it.trigger, it.symptom, it.origin, it.reported, it.fix, it.seams))


@pytest.mark.parametrize("name", defects())
def test_the_fix_of_a_defect_names_a_class_that_says_what_it_guarantees(
    name: str, table: Catalog
) -> None:
    assert entry(table, name).guarantees


def test_a_defect_without_a_file_is_an_entry_too(tmp_path: Path) -> None:
    found = {it.name: it for it in incidents(tmp_path)}
    assert set(found) == set(defects())
    assert found["overlap_row_shift"].scenario == ""
    assert found["overlap_row_shift"].evidence == ("token_of_another_row",)


def test_what_clears_an_incident_is_what_its_clean_arms_change(table: Catalog) -> None:
    it = entry(table, "padded_scatter_stale_slots")
    assert [change.words for change in it.cleared_by] == [
        "index_k=fp8",
        "graph=false",
        "concurrency=1",
    ]
    assert it.verdicts == ("corrupt",) and it.shown_by == ("bf16, graph on",)


@pytest.mark.parametrize("name", sorted(LOADS))
def test_a_load_without_a_defect_is_an_amplifier_that_flips_ease(name: str, table: Catalog) -> None:
    it = entry(table, name)
    assert it.kind == "amplifier" and it.verdicts == ("clean",) and it.cleared_by
    assert "the load" in it.trigger and not it.seams


def test_a_hypothesis_on_a_healthy_build_is_falsified(table: Catalog) -> None:
    falsified = {it.name for it in table.incidents if it.kind == "falsified"}
    assert falsified and falsified <= {path.stem for path in listed(SHIPPED / HYPOTHESES)}


def test_a_dormant_defect_names_the_file_that_wakes_it(table: Catalog) -> None:
    it = entry(table, "token_granular_c4_geometry")
    assert it.kind == "dormant" and it.cleared_by == ()
    assert it.also_in == ("scenarios/hypotheses/token_granular_forced.yaml",)


def test_whoever_waits_hears_how_many_files_were_read(tmp_path: Path) -> None:
    (tmp_path / INCIDENTS).mkdir()
    write(tmp_path / INCIDENTS)
    heard: list[tuple[int, int]] = []
    found = incidents(tmp_path, lambda done, due: heard.append((done, due)))
    assert heard == [(0, 1)]
    (it,) = [it for it in found if it.name == "good"]
    assert it.scenario == f"{tmp_path.name}/incidents/good.yaml"


def test_a_fix_without_a_class_guarantees_nothing() -> None:
    assert guarantee("restart it") == ""
