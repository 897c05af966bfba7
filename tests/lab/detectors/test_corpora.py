"""Over replies as real chat models write them every detector is silent; over sick ones none is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.detectors import DETECTORS, Kind, examine
from tests.lab.detectors.corpora import OFFERED, corpus

INNOCENT, CORRUPT = corpus("innocent"), corpus("corrupt")
SURE = (Kind.CORRUPT.value, Kind.MISSED.value)


@pytest.mark.parametrize("name", INNOCENT)
def test_an_innocent_reply_is_clean(name: str) -> None:
    found = [it for it in examine(INNOCENT[name], OFFERED) if it.kind in SURE]
    assert found == []


@pytest.mark.parametrize("name", INNOCENT)
def test_a_model_may_think_what_it_may_say(name: str) -> None:
    thought = replace(INNOCENT[name], reasoning=INNOCENT[name].content, content="Yes.")
    seen = [it.detector for it in examine(thought, OFFERED) if it.kind in SURE]
    assert [it for it in seen if it != "repeated_think_end"] == []


@pytest.mark.parametrize("name", CORRUPT)
def test_a_sick_reply_is_seen(name: str) -> None:
    detector, _, _ = name.partition(":")
    found = {it.detector: it.kind for it in examine(CORRUPT[name], OFFERED)}
    weakness = DETECTORS.all()[detector].weakness
    assert found.get(detector) == (Kind.MISSED if weakness else Kind.CORRUPT).value


def test_the_corpora_are_large_enough_to_show_anything() -> None:
    assert len(INNOCENT) >= 100 and len(CORRUPT) >= 60
