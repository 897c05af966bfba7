"""What was seen in the culprit arms, beside the cleared ones."""

from __future__ import annotations

from lab.bisect.conclusion import Conclusion, Verdict
from lab.bisect.evidence import Seen, evidence
from lab.bisect.notebook import Phase, Probe
from lab.bisect.space import Config
from lab.bisect.trials import Trial, Unit

FOUND = Conclusion(
    Verdict.CONFIRMED, "", Unit.SESSION, "bayes", culprits=("a", "b"), context=("c",)
)
ROW, FAULT = "padded_row_wrote_owned_slot", "no_progress"


def probe(bad: str, corrupt: int, rows: int, levels: tuple[tuple[str, int], ...] = ()) -> Probe:
    """One trial of six sessions, with a path that was never taken."""
    trial = Trial(
        0,
        6,
        corrupt,
        violations={ROW: rows} if rows else {},
        faults={FAULT: 1},
        exposure={"padded_rows": 10},
        reach={"c4 load": 0},
    )
    return Probe(Phase.DISCOVER, Config(frozenset(bad), levels), (trial,))


def test_arms_with_every_culprit_bad_are_added_up_against_all_others() -> None:
    found = evidence([probe("abc", 2, 30), probe("ab", 1, 14), probe("ac", 0, 0)], FOUND)
    assert found.culprit == Seen(
        2, 12, 3, {ROW: 44}, {FAULT: 2}, {"padded_rows": 20}, {"c4 load": 0}
    )
    assert found.cleared == Seen(1, 6, 0, {}, {FAULT: 1}, {"padded_rows": 10}, {"c4 load": 0})


def test_an_arm_with_a_knob_between_good_and_bad_belongs_to_neither_side() -> None:
    between, other = (("b", 4),), (("c", 4),)
    found = evidence([probe("ab", 1, 5, between), probe("ab", 1, 7, other)], FOUND)
    assert (found.culprit, found.cleared) == (Seen(), Seen())


def test_what_is_outside_the_context_is_no_evidence() -> None:
    found = evidence([probe("ab", 1, 5), probe("bde", 3, 9), probe("bc", 0, 0)], FOUND)
    assert (found.cleared.corrupt, found.cleared.violations) == (0, {})


def test_without_culprits_every_toggle_bad_is_beside_the_rest() -> None:
    none = Conclusion(Verdict.UNDETERMINED, "", Unit.SESSION, "bayes")
    found = evidence([probe("ab", 1, 5), probe("a", 0, 0)], none, ("a", "b"))
    assert (found.culprit.corrupt, found.cleared.corrupt) == (1, 0)
