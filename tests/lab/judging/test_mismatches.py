"""A pool that is another size on the host is one line of the run, whatever the verdict."""

from __future__ import annotations

from lab.judging import judge_run
from lab.mismatches import mismatches
from lab.report import words
from lab.report.table import run_report
from tests.lab.report.test_table import printed
from tests.lab.tiers import row, tiered

GOOD = [row("device", 16384), row("host", 16384)]
SHORT = [row("device", 16384), row("host", 8448, agrees=False)]
SAID = "index_k: 8,448 bytes a row on the host, 16,384 on the device"


def test_rows_that_agree_say_nothing() -> None:
    assert mismatches(GOOD) == mismatches([]) == ()


def test_a_row_of_another_size_says_both_sizes() -> None:
    assert mismatches(SHORT) == (SAID,)


def test_rows_of_one_size_that_differ_say_in_what() -> None:
    host = {**row("host", 16384, agrees=False), "entries": 32}
    said = "index_k: 32 entries a page on the host, 64 on the device"
    assert mismatches([GOOD[0], host]) == (said,)
    (other,) = mismatches([GOOD[0], row("host", 16384, agrees=False)])
    assert other.endswith("and on the device, in another layout")


def test_two_sides_of_a_pair_are_named_as_such() -> None:
    decode = row("decode", 16384, agrees=False)
    said = "index_k: 16,384 bytes a row on the decode side, 8,448 on the prefill side"
    assert mismatches([row("device", 8448), decode]) == (said,)


def test_a_decode_row_that_is_the_prefill_s_is_not_what_its_own_layout_says() -> None:
    decode = row("decode", 8448, agrees=False)
    said = "index_k: 8,448 bytes a row on the decode side, not what its layout says"
    assert mismatches([row("device", 8448), decode]) == (said,)


def test_a_row_without_a_row_of_the_device_beside_it_is_told_alone() -> None:
    (said,) = mismatches([row("device", 8448, agrees=False)])
    assert said == "index_k: 8,448 bytes a row on the device, not what its layout says"


def test_a_server_that_states_less_breaks_nothing() -> None:
    assert mismatches([{"pool": "c4"}, {}]) == ()
    (said,) = mismatches([{"pool": "c4", "agrees": False}])
    assert said == "c4: – bytes a row on the –, not what its layout says"


def test_the_run_says_which_arms_have_it() -> None:
    arms = [tiered("one", SHORT), tiered("two", GOOD), tiered("three", SHORT)]
    verdict, _ = judge_run("r", "s", 0, arms, None)
    assert words.geometry_lines(verdict.arms) == [f'geometry: {SAID} (arms "one", "three")']
    assert words.geometry_lines(verdict.arms[:1]) == [f'geometry: {SAID} (arm "one")']
    assert f"geometry: {SAID}" in printed(run_report(verdict), width=200)


def test_a_mismatch_of_every_arm_names_none() -> None:
    verdict, _ = judge_run("r", "s", 0, [tiered("one", SHORT), tiered("two", SHORT)], None)
    assert words.geometry_lines(verdict.arms) == [f"geometry: {SAID} (every arm)"]
