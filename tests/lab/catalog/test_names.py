"""Whatever the engine can tell of has a sentence, so the table cannot fall behind."""

from __future__ import annotations

import pytest

from engine.defects import catalog as defects
from lab.catalog import Catalog
from lab.catalog.lines import EFFECT, ties
from lab.catalog.names import MEANING, Name
from lab.exposure import FAULTS
from tests.lab.catalog.emitted import emitted, unspelt

EMITTED = emitted()


@pytest.fixture
def known(table: Catalog) -> dict[str, Name]:
    """By name."""
    return {it.name: it for it in table.names}


@pytest.mark.parametrize("name", EMITTED)
def test_a_name_that_the_engine_tells_has_a_sentence_and_its_watcher(name: str, known) -> None:
    assert known[name].meaning.endswith("."), f"{EMITTED[name]} tells of it: say what it means"
    assert known[name].watched_by


@pytest.mark.parametrize("defect", defects())
def test_the_evidence_of_a_defect_has_a_sentence_and_names_it(defect: str, known) -> None:
    for name in defects()[defect].evidence:
        assert known[name].meaning and defect in known[name].incidents


def test_every_name_of_the_table_has_a_sentence(known) -> None:
    assert [it.name for it in known.values() if not it.meaning] == []


def test_nothing_has_a_sentence_that_the_engine_does_not_tell() -> None:
    counted = {"no_progress"}  # an event of its own, beside which the watchdog counts a fault
    assert set(MEANING) - set(EMITTED) == counted


def test_what_the_shadow_memory_sees_is_said_to_be_an_effect(known) -> None:
    assert known["read_foreign_row"].effect and EFFECT in ties(known["read_foreign_row"])
    assert EFFECT not in ties(known["padded_row_wrote_owned_slot"])


def test_a_name_that_is_told_is_spelt_where_it_can_be_found() -> None:
    assert unspelt() == []


def test_names_are_followed_through_the_functions_that_pass_them_on() -> None:
    assert {"restored_page_differs", "load_wrote_page_in_use", "no_progress"} - set(EMITTED) == {
        "no_progress"  # an event of its own, beside which the watchdog counts a fault
    }


def test_faults_come_after_violations(table: Catalog) -> None:
    kinds = [it.kind for it in table.names]
    assert kinds == sorted(kinds, reverse=True)
    assert {it.name for it in table.names if it.kind == "fault"} == set(FAULTS)
