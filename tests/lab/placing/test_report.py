"""The counts of damage to a real run's replies, as a stored run gives them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lab.errors import UserError
from lab.placing.evidence import COUNTED
from lab.placing.report import damage_document, damage_tables
from tests.lab.placing.shows import history
from tests.lab.placing.test_evidence import PLAN, TURN, damaged, met, symbols_block
from tests.lab.placing.test_judge import first_symbol, wrong_at

if TYPE_CHECKING:
    from lab.records import ArmHistory


class Stored:
    """Results that hold one run."""

    def __init__(self, *arms: ArmHistory) -> None:
        self._arms = arms

    def histories(self, run: str) -> tuple[ArmHistory, ...]:
        return self._arms


def test_replies_are_counted_by_what_they_met() -> None:
    wrong = wrong_at(0, TURN, first_symbol(PLAN.turns[TURN].expected_text))
    rows = met(0, TURN, symbols_block(), prefill=0, decode=16), met(1, 0, 16)
    document = damage_document(Stored(damaged(*rows, wrong=(wrong,)), history()), "run")
    [arm] = document["arms"]
    assert arm["all"] == dict.fromkeys(COUNTED, 0) | dict.fromkeys(COUNTED[:4], 1) | {"met": 2}
    assert arm["rows"]["swap, written by decode"]["wrong"] == 1
    assert json.dumps(document)
    [table] = damage_tables(document)
    assert table.row_count == 3


def test_a_run_without_a_fault_has_nothing_to_count() -> None:
    with pytest.raises(UserError, match="run run: no fault of a build struck in any arm"):
        damage_document(Stored(history()), "run")
