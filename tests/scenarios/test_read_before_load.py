"""index_k_read_before_load in whole runs: a slow link shows it, and the gate alone cures it."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from tests.scenarios.dirty import dirty
from tests.scenarios.whole import arms

NAME = "index_k_read_before_load"
FILE, BAD = f"incidents/{NAME}", "hicache on, a slow link"


@pytest.mark.parametrize("arm", arms(FILE))
def test_an_arm_of_the_incident_concludes_what_its_file_expects(arm: str) -> None:
    ran = dirty(FILE, arm)
    assert ran.as_expected, ran.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("arm", arms(FILE))
def test_it_concludes_so_on_other_seeds(arm: str, seed: int) -> None:
    ran = dirty(FILE, arm, seed)
    assert ran.as_expected, ran.verdict


def test_the_same_load_on_a_healthy_build_passes_by_waiting() -> None:
    ran = dirty(FILE, BAD, 0, "build=[]")
    assert ran.clean, ran.verdict
    assert ran.count("host_hits") > 0


def test_replies_are_corrupt_though_every_page_comes_back_as_it_went() -> None:
    ran = dirty(FILE, BAD)
    assert ran.verdict.replies_corrupt > 0
    assert ran.moved("restored_differs:") == {}
    assert {*ran.verdict.violations} == {*catalog()[NAME].evidence}


def test_capturing_decode_is_innocent() -> None:
    ran = dirty(FILE, BAD, 0, "engine.graph=false")
    assert ran.as_expected, ran.verdict
