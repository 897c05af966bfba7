"""One campaign bisected with twenty seeds: how often the engine's own noise misleads the search.

About two minutes a seed on two idle cores. By itself:
`pytest -m slow tests/scenarios/test_campaign_seeds.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.bisecting.order import Order
from lab.bisecting.perform import Place, perform
from tests.scenarios.whole import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = 20
MOST_WRONG = 1  # each phase errs at 1 %
RIGHT = ("CONFIRMED", ("index_k", "hicache"))


@pytest.mark.slow
def test_of_twenty_seeds_at_most_one_is_misled(tmp_path: Path) -> None:
    ended = {}
    for seed in range(SEEDS):
        place = Place(tmp_path / str(seed) / "lab.duckdb", replay=False)
        file = ROOT / "campaigns" / "two_toggles.yaml"
        found, _ = perform(file, Order(seed=seed), place)
        ended[seed] = (found["verdict"], tuple(flip["toggle"] for flip in found["culprits"]))
    wrong = {seed: end for seed, end in ended.items() if end != RIGHT}
    assert len(wrong) <= MOST_WRONG, wrong
