"""The roles of toggles that are not culprits, told from counts."""

from __future__ import annotations

import pytest
from scipy.stats import fisher_exact

from lab.bisect.conclusion import Discovery, Role
from lab.bisect.roles import Known, aggravating, raises, roles_of
from lab.bisect.space import Config
from lab.bisect.trials import Tally

ALPHA = 0.01
FOUND = Discovery(("a",), ("a", "b", "c"), candidates=(("a",), ("a", "c")))
KNOWN = Known(sufficient=True, confirmed=True, alpha=ALPHA)


def config(bad: str) -> Config:
    return Config(frozenset(bad))


def test_one_stratum_is_fishers_one_sided_test() -> None:
    seen = {config("ab"): Tally(20, 9), config("a"): Tally(30, 2)}
    p = fisher_exact([[9, 11], [2, 28]], alternative="greater").pvalue
    assert raises(seen, "b") == pytest.approx(float(p))


def test_strata_are_added_up_as_by_hand() -> None:
    # margins of 1 of 2 and of 2 of 4: the tail of two corrupt or more is 1/2 * 5/6 + 1/2 * 1/6
    seen = {
        config("abc"): Tally(1, 1),
        config("ac"): Tally(1, 0),
        config("ab"): Tally(2, 1),
        config("a"): Tally(2, 1),
    }
    assert raises(seen, "b", ["c"]) == pytest.approx(1 / 2)


def test_a_toggle_seen_at_one_value_alone_raises_nothing() -> None:
    assert raises({config("ab"): Tally(20, 9)}, "b") == 1.0


def test_a_toggle_that_raises_the_rate_and_is_not_needed_aggravates() -> None:
    seen = {config("abc"): Tally(100, 40), config("ac"): Tally(100, 8), config("ab"): Tally(50, 21)}
    told = roles_of(seen, ("a", "b", "c"), FOUND, {"a": Role.NECESSARY}, KNOWN)
    assert told.roles == {"a": Role.NECESSARY, "b": Role.AGGRAVATING, "c": Role.INNOCENT}


def test_a_change_of_rate_that_is_not_excluded_is_told() -> None:
    few = {config("abc"): Tally(30, 10), config("ac"): Tally(9, 2), config("ab"): Tally(300, 95)}
    told = roles_of(few, ("a", "b", "c"), FOUND, {"a": Role.NECESSARY}, KNOWN)
    assert told.roles["b"] is told.roles["c"] is Role.INNOCENT
    assert told.others == (
        "not excluded by n = 9 units with it good: that one of these raises the rate 3 times or"
        " more: b",
    )
    many = {it: Tally(50 * seen.units, 50 * seen.corrupt) for it, seen in few.items()}
    assert roles_of(many, "abc", FOUND, {"a": Role.NECESSARY}, KNOWN).others == ()


def test_a_toggle_that_was_never_seen_both_ways_is_not_innocent() -> None:
    seen = {config("abc"): Tally(30, 10), config("ab"): Tally(9, 2)}
    told = roles_of(seen, ("a", "b", "c"), FOUND, {"a": Role.NECESSARY}, KNOWN)
    assert told.roles["b"] is Role.NOT_SEPARABLE
    assert told.roles["c"] is Role.INNOCENT


def test_beside_a_discovered_toggle_that_aggravates_a_bystander_is_innocent() -> None:
    seen = {config("abc"): Tally(200, 80), config("a"): Tally(50, 4), config("ac"): Tally(50, 4)}
    decided = {"a": Role.NECESSARY, "b": Role.AGGRAVATING}
    told = roles_of(seen, ("a", "b", "c"), FOUND, decided, KNOWN)
    assert raises(seen, "c") < ALPHA
    assert told.roles["c"] is Role.INNOCENT


def test_a_bystander_of_an_aggravating_toggle_is_not_blamed() -> None:
    # c is bad mostly where b is; within either value of b it changes nothing
    seen = {
        config("abc"): Tally(200, 80),
        config("ab"): Tally(50, 20),
        config("ac"): Tally(50, 4),
        config("a"): Tally(200, 16),
    }
    assert raises(seen, "c") < ALPHA
    assert raises(seen, "c", ["b"]) > 0.4
    assert aggravating(seen, ["b", "c"], ALPHA)[0] == {"b": Role.AGGRAVATING}


def test_toggles_that_were_only_ever_bad_together_are_not_separable() -> None:
    seen = {config("abc"): Tally(100, 40), config("a"): Tally(100, 8)}
    told = aggravating(seen, ["b", "c"], ALPHA)[0]
    assert told == {"b": Role.NOT_SEPARABLE, "c": Role.NOT_SEPARABLE}


def test_a_toggle_without_which_nothing_is_corrupt_may_be_a_missed_culprit() -> None:
    seen = {config("abc"): Tally(60, 20), config("ac"): Tally(60, 0), config("ab"): Tally(60, 20)}
    roles, others = aggravating(seen, ["b", "c"], ALPHA)
    assert roles == {"b": Role.NOT_SEPARABLE}
    assert others == ("b may be a culprit too: 0 of 60 are corrupt where it is good",)


@pytest.mark.parametrize("sufficient", [False, None])
def test_nobody_is_innocent_where_the_culprits_alone_do_not_suffice(
    sufficient: bool | None,
) -> None:
    known = Known(sufficient, confirmed=True, alpha=ALPHA)
    told = roles_of({}, ("a", "b"), FOUND, {"a": Role.NECESSARY}, known)
    assert told.roles["b"] is Role.NOT_SEPARABLE


def test_toggles_of_other_candidates_are_not_separable_until_confirmed() -> None:
    known = Known(sufficient=True, confirmed=False, alpha=ALPHA)
    seen = {config("abc"): Tally(20, 9), config("a"): Tally(9, 4)}
    told = roles_of(seen, ("a", "b", "c"), FOUND, {"a": Role.NOT_SEPARABLE}, known)
    assert told.roles["b"] is Role.INNOCENT
    assert told.roles["c"] is Role.NOT_SEPARABLE


def test_a_toggle_outside_the_context_was_not_tested() -> None:
    told = roles_of({}, ("a", "b", "z"), FOUND, {"a": Role.NECESSARY}, KNOWN)
    assert told.roles["z"] is Role.NOT_SEPARABLE
