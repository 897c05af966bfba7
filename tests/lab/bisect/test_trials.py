"""What is counted, and as how much."""

from __future__ import annotations

from lab.bisect.trials import Tally, Trial, Unit, sessions, summed, tally


def test_a_boot_is_one_unit_and_corrupt_where_any_session_is() -> None:
    trials = [Trial(0, 8, 0), Trial(1, 8, 3)]
    assert tally(trials, Unit.BOOT) == Tally(2, 1)
    assert tally(trials, Unit.SESSION) == Tally(16, 3)


def test_a_trial_that_wedged_is_neither_clean_nor_corrupt() -> None:
    assert tally([Trial(0, 8, 0, unknown="wedged")], Unit.SESSION) == Tally()
    assert tally([Trial(0, 8, 0, unknown="wedged")], Unit.BOOT) == Tally()


def test_corruption_counts_though_replies_are_missing() -> None:
    assert tally([Trial(0, 8, 2, unknown="3 replies are missing")], Unit.SESSION) == Tally(8, 2)


def test_a_trial_that_owed_no_session_a_reply_is_not_counted() -> None:
    assert tally([Trial(0, 0, 0)], Unit.BOOT) == Tally()


def test_what_shows_nothing_is_paid_for_all_the_same() -> None:
    assert sessions([Trial(0, 8, 0, unknown="wedged"), Trial(1, 8, 1)]) == 16


def test_tallies_add_up_and_none_has_no_rate() -> None:
    assert Tally(10, 1) + Tally(10, 4) == Tally(20, 5)
    assert Tally(20, 5).rate == 0.25
    assert Tally().rate == 0.0


def test_a_path_that_was_never_taken_stays_in_the_sum() -> None:
    assert summed([{"loads": 0}, {"loads": 0, "stores": 2}]) == {"loads": 0, "stores": 2}
