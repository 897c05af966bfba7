"""Rates with a toggle bad and good: like is compared with like."""

from __future__ import annotations

from dataclasses import replace

from lab.bisect.conclusion import Conclusion, Verdict
from lab.bisect.contrast import Contrast, contrasts, together
from lab.bisect.notebook import Phase, Probe
from lab.bisect.space import Config, Space
from lab.bisect.trials import Tally, Trial, Unit

SPACE = Space(("a", "b", "pd", "queue"), {"queue": frozenset({"pd"})})
FOUND = Conclusion(
    Verdict.CONFIRMED, "", Unit.SESSION, "bayes", culprits=("a", "b"), context=("pd", "queue")
)


def probe(bad: str, corrupt: int, sessions: int = 10, **levels: int) -> Probe:
    config = Config(frozenset(bad.split()), tuple(levels.items()))
    return Probe(Phase.DISCOVER, config, (Trial(0, sessions, corrupt),))


PROBES = (
    probe("a b pd queue", 4),
    probe("a b", 2, 20),
    probe("a pd", 0, 30),
    probe("b", 0, 40),
    probe("", 0, 50),
)


def test_culprits_are_together_or_one_of_them_is_good() -> None:
    assert together(PROBES, FOUND) == Contrast(Tally(30, 6), Tally(120, 0))
    assert together(PROBES, replace(FOUND, culprits=())) == Contrast(Tally(), Tally())


def test_a_toggle_is_compared_where_the_other_culprits_are_bad() -> None:
    found = contrasts(PROBES, FOUND, SPACE)
    assert found["a"] == Contrast(Tally(30, 6), Tally(40, 0))
    assert found["b"] == Contrast(Tally(30, 6), Tally(30, 0))
    assert found["pd"] == Contrast(Tally(10, 4), Tally(20, 2))


def test_what_needs_a_culprit_is_good_with_it() -> None:
    culprits = replace(FOUND, culprits=("pd", "queue"), context=("a", "b"))
    asked = (probe("pd queue", 5), probe("pd", 0, 20), probe("a", 0, 30))
    found = contrasts(asked, culprits, SPACE)
    assert found["pd"] == Contrast(Tally(10, 5), Tally(30, 0))
    assert found["queue"] == Contrast(Tally(10, 5), Tally(20, 0))


def test_nothing_outside_the_context_and_no_level_between_counts() -> None:
    within = replace(FOUND, context=())
    assert together(PROBES, within) == Contrast(Tally(20, 2), Tally(90, 0))
    assert together((*PROBES, probe("a b", 9, 10, pd=2)), FOUND) == together(PROBES, FOUND)


def test_without_a_culprit_every_configuration_counts() -> None:
    found = contrasts(PROBES, replace(FOUND, culprits=(), context=()), SPACE)
    assert found["a"] == Contrast(Tally(60, 6), Tally(90, 0))


def test_boots_are_counted_where_they_are_the_unit() -> None:
    assert together(PROBES, replace(FOUND, unit=Unit.BOOT)) == Contrast(Tally(2, 2), Tally(3, 0))
