"""The shadow memory, tested on itself: whatever is meddled with and read is found, by its name.

What nobody reads is not reported, and a healthy engine reports nothing. The long version (`pytest
-m slow`) draws more; a thousand healthy sessions are `kvlab run scenarios/baseline/healthy.yaml
--set engine.ledger=full`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.config import EngineConfig
from tests.engine.shadow.meddled import Case, meddle
from tests.engine.shadow.misled import (
    CHANGES,
    selects_a_free_page,
    selects_a_page_of_another,
    selects_an_entry_to_come,
    store_is_lost,
)
from tests.engine.shadow.perturbations import (
    Meddle,
    page_changes_hands,
    page_is_freed,
    page_list_names_a_free_page,
)
from tests.engine.test_tiers import TOGGLES, a_conversation_goes_on, named
from tests.engine.waves import config, play

ENGINES: list[dict[str, Any]] = [
    {},
    {"index_k": "bf16", "graph": True, "topk": "v2"},
    {"overlap": True, "poison_free_pages": True},
]
LONG = pytest.param(range(100, 200), marks=pytest.mark.slow)


def alone(**toggles: Any) -> EngineConfig:
    """An engine that never lacks a page, with no copies under way."""
    return config(ledger="full", hicache=False, pool_pages=60, **toggles)


def cases(seeds: Sequence[int], last: Meddle | None = None, **toggles: Any) -> list[Case]:
    """All cases of some loads, in which nothing else was found: but a page that was taken for
    nobody is missed at rest.
    """
    found: list[Case] = []
    for seed in seeds:
        made, rest = meddle(alone(**toggles), seed, last)
        assert {event["name"] for event in rest} <= {"page_books_broken"}
        found += made
    return found


@pytest.mark.parametrize("seeds", [range(2), LONG])
@pytest.mark.parametrize("toggles", ENGINES, ids=named)
def test_each_change_that_a_step_reads_is_found_and_no_other(
    toggles: dict[str, Any], seeds: Sequence[int]
) -> None:
    made = cases(seeds, **toggles)
    assert [str(case) for case in made if not case.right] == []
    assert len(made) >= 8 * len(seeds)
    if len(seeds) > 10:
        assert {case.name for case in made} == {change.__name__ for change in CHANGES}


@pytest.mark.parametrize(
    "change",
    [
        selects_a_free_page,
        selects_a_page_of_another,
        selects_an_entry_to_come,
        store_is_lost,
    ],
)
def test_a_choice_that_is_none_of_the_row_s_and_a_store_that_is_lost_are_found(
    change: Meddle,
) -> None:
    made = cases([0, 1], change)
    assert made and all(case.right for case in made), [str(case) for case in made]


@pytest.mark.parametrize("change", [page_is_freed, page_changes_hands, page_list_names_a_free_page])
def test_a_page_that_its_reader_has_lost_is_named_by_what_became_of_it(change: Meddle) -> None:
    [case] = cases([0], change)
    assert case.right, str(case)


@pytest.mark.parametrize("toggles", TOGGLES[::4], ids=named)
def test_a_healthy_engine_is_told_of_nothing_by_its_bytes(toggles: dict[str, Any]) -> None:
    play(config(ledger="full", **toggles), a_conversation_goes_on)
