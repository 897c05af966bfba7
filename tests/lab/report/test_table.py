"""The A/B table says what was measured, what it proves, and where it is not as expected."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from lab.report import words
from lab.report.grid import Fitted
from lab.report.markdown import markdown
from lab.report.table import run_report
from lab.stats import wilson
from tests.lab.samples import arm_verdict, history, run_verdict, sample_run

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lab.records import ArmVerdict, RunVerdict

ALONE = "bf16, graph on, one at a time"


def printed(thing: RenderableType, width: int = 100) -> str:
    """What a file or a terminal without colour gets."""
    console = Console(file=io.StringIO(), width=width, no_color=True, force_terminal=False)
    console.print(thing)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def four_arms() -> RunVerdict:
    """The sample run and an arm of 12 sessions that never padded a row."""
    verdict, _arms = sample_run()
    alone = replace(
        arm_verdict(history(ALONE, sessions=12), corrupt=0, expected="clean"),
        verdict="inconclusive",
        reason="never exercised: graph",
        exposure={"padded_rows": 0, "prefix_hits": 3},
    )
    return replace(verdict, arms=(*verdict.arms, alone))


def row(text: str, name: str) -> list[str]:
    """The cells of the first line that begins with ``name``."""
    line = next(line for line in text.splitlines() if line.strip().startswith(name + "  "))
    return line.strip().removeprefix(name).split("  ")


def cells(text: str, name: str) -> list[str]:
    return [cell.strip() for cell in row(text, name) if cell.strip()]


def test_a_row_has_n_rate_interval_p_replies_unfinished_and_verdict() -> None:
    text = printed(run_report(sample_run()[0]))
    assert cells(text, "bf16, graph on") == [
        *("10 of 60", "16.7", "9.3–28.0", "first", "10 of 240", "0", "corrupt", "yes")
    ]
    assert cells(text, "fp8, graph on") == [
        *("0 of 60", "0", "0–6.0", "0.0013", "0 of 240", "0", "clean", "yes")
    ]


@pytest.mark.parametrize("width", [100, 120])
def test_it_fits_and_needs_no_colour(width: int) -> None:
    text = printed(run_report(four_arms()), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text
    assert "inconclusive" in text
    assert "padded_row_wrote_owned_slot 31" in text


@pytest.mark.parametrize("width", [80, 60])
def test_a_narrow_terminal_gets_more_tables_and_no_shorter_verdict(width: int) -> None:
    verdict = with_tier({"hicache": True}, {"host_hits": 12, "graph_replays": 99_999})
    last = replace(verdict.arms[-1], verdict="inconclusive", expected="corrupt")
    shown = run_report(replace(verdict, arms=(*verdict.arms[:-1], last)))
    text = printed(shown, width)
    tables = text[: text.index("bf16, graph on: ")]
    assert max(len(line) for line in text.splitlines()) <= width
    assert "inconclusive" in tables and "NO:" in tables and "…" not in text


def test_a_name_breaks_between_its_words() -> None:
    text = printed(run_report(four_arms()), 80)
    rates = text[text.index("Wilson") : text.index("unfin")].split()
    assert {"one", "at", "time", "graph"} <= set(rates)


def test_a_table_that_fits_is_one() -> None:
    table = Fitted(("arm", "a", "b"), [["x y", "1", "2"]])
    assert table.pieces(12) == [[0, 1, 2]] and table.wide([0, 1, 2]) == 11
    assert table.pieces(10) == [[0, 1], [0, 2]]
    assert Fitted(table.heads, [["x", "1", "2"]], narrow=("b", "a")).pieces(8) == [[0, 2], [0, 1]]


def test_the_headline_comes_first_and_is_one_sentence() -> None:
    text = printed(run_report(sample_run()[0]), width=200)
    assert text.splitlines()[0] == (
        '"bf16, graph on" corrupts 10 of 60 sessions (16.7 %), "fp8, graph on" 0 of 60 '
        "(p = 0.0026, Holm over 2 arms); 2 of 3 arms are clean (0 of 120 sessions corrupt); as "
        "expected."
    )


def test_a_mismatch_is_marked_in_the_row_and_in_the_headline() -> None:
    verdict, _ = sample_run()
    first, second, third = verdict.arms
    wrong = replace(verdict, arms=(first, replace(second, expected="corrupt"), third))
    text = printed(run_report(wrong))
    assert cells(text, "fp8, graph on")[-1] == "NO: corrupt"
    assert "1 of 3 arms NOT as expected." in words.headline(wrong)


def test_a_violation_that_was_expected_and_not_seen_is_a_mismatch() -> None:
    verdict, _ = sample_run()
    first, *others = verdict.arms
    wanted = replace(first, expected_violations=("padded_row_wrote_owned_slot",))
    assert words.expected_word(wanted) == "yes"
    wrong = replace(verdict, arms=(replace(wanted, violations={}), *others))
    without = "NO: without padded_row_wrote_owned_slot"
    assert without in printed(run_report(wrong), width=200)
    assert without in markdown(wrong)
    assert f"1 of 3 arms NOT as expected ({without})." in words.headline(wrong)
    assert max(len(line) for line in printed(run_report(wrong)).splitlines()) <= 100


def test_exposure_shows_what_never_happened_too() -> None:
    text = printed(run_report(four_arms()), width=120)
    exposed = text[text.index("exposure") :]
    assert cells(exposed, "bf16, graph on") == ["5123", "240", "0", "0", "0"]
    assert cells(exposed, ALONE) == ["0", "3", "0", "0", "0"]


def test_an_arm_that_counted_nothing_at_all_has_dashes_and_not_zeros() -> None:
    verdict = four_arms()
    silent = replace(verdict.arms[-1], exposure={"padded_rows": 0, "host_hits": 0})
    text = printed(run_report(replace(verdict, arms=(*verdict.arms[:-1], silent))), width=120)
    assert cells(text[text.index("exposure") :], ALONE) == ["–"] * 5
    assert "exposure" not in printed(run_report(replace(verdict, arms=(silent,), comparisons=())))


def with_tier(settings: dict[str, object], exposure: dict[str, int]) -> RunVerdict:
    """The sample run whose second arm has these settings and counters besides its own."""
    verdict, _ = sample_run()
    first, second, third = verdict.arms
    changed = {**second.exposure, **exposure}
    second = replace(second, settings={**second.settings, **settings}, exposure=changed)
    return replace(verdict, arms=(first, second, third))


def test_a_run_without_host_tiers_has_no_table_of_them() -> None:
    assert "host tiers" not in printed(run_report(four_arms()))


def test_the_host_tiers_have_a_table_of_their_own() -> None:
    moved = {"host_hits": 12, "pages_restored": 340, "pages_backed_up": 900}
    text = printed(run_report(with_tier({"hicache": True}, moved)))
    tiers = text[text.index("host tiers") :]
    assert cells(tiers, "fp8, graph on") == ["12", "340", "900", "0", "812.4"]
    assert cells(tiers, "bf16, graph on") == ["0", "0", "0", "0", "812.4"]
    assert max(len(line) for line in text.splitlines()) <= 100


def test_a_host_tier_that_gave_nothing_back_shows_the_zero() -> None:
    text = printed(run_report(with_tier({"hicache": True, "hisparse": True}, {})))
    assert cells(text[text.index("host tiers") :], "fp8, graph on")[:4] == ["0", "0", "0", "0"]


def test_a_slow_link_is_seen_in_the_seconds_that_steps_waited_for_loads() -> None:
    verdict = with_tier({"hicache": True}, {"load_wait_us": 12_340_000})
    text = printed(run_report(verdict))
    assert cells(text[text.index("host tiers") :], "fp8, graph on")[-2:] == ["12.34", "812.4"]
    assert "load_wait_s | virtual_s |" in markdown(verdict)


def test_the_markdown_has_the_host_tiers_beside_the_other_counters() -> None:
    text = markdown(with_tier({"hisparse": True}, {"hisparse_swap_ins": 77}))
    heads = "padded_rows | prefix_hits | retractions | evicted_pages | aborts_in_flight"
    assert f"| arm | {heads} | hisparse_swap_ins |" in text
    assert "| fp8, graph on | 5123 | 240 | 0 | 0 | 0 | 77 |" in text


def test_every_arm_says_what_its_n_proves() -> None:
    text = printed(run_report(four_arms()), width=120)
    assert "fp8, graph on: 0 of 60 shows only: below 6.0 %" in text
    assert f"{ALONE}: 0 of 12 seen corrupt: shows no bound" in text
    assert "inconclusive: never exercised: graph" in text
    assert "bf16, graph on: 10 of 60 shows: between 9.3 and 28.0 %" in text


def test_a_run_without_a_violation_says_so() -> None:
    arms = [history("fp8, graph on")]
    text = printed(run_report(run_verdict("r", arms, {"fp8, graph on": 0})))
    assert "No corrupt reply, no violation and no fault in any arm." in text
    assert text.startswith("Every arm is clean (0 of 60 sessions corrupt); as expected.")


def test_an_arms_name_is_never_markup() -> None:
    arms = [history("[bold]x[/bold] [a]")]
    text = printed(run_report(run_verdict("r", arms, {"[bold]x[/bold] [a]": 0})))
    assert "[bold]x[/bold]" in text


def test_a_run_whose_first_arm_never_ended_claims_nothing() -> None:
    text = printed(run_report(replace(sample_run()[0], arms=(), comparisons=())))
    assert text.splitlines()[0] == "No arm finished."
    assert "No corrupt reply" not in text


@pytest.mark.parametrize(
    ("verdict", "corrupt", "said"),
    [
        ("corrupt", 60, '"one" corrupts 60 of 60 sessions (100 %); no arm is clean.'),
        ("corrupt", 0, '"one" destroys rows, though no reply of 60 sessions shows it; no arm'),
        ("wedged", 0, 'Wedged: "one"; no arm is clean.'),
        ("parser_fault", 0, 'Parser fault: "one"; no arm is clean.'),
    ],
)
def test_each_verdict_has_its_sentence(verdict: str, corrupt: int, said: str) -> None:
    arm = replace(
        arm_verdict(history("one", corrupt=corrupt), corrupt=corrupt),
        verdict=verdict,
        expected=None,
    )
    assert words.headline(replace(sample_run()[0], arms=(arm,), comparisons=())).startswith(said)


def test_many_corrupt_arms_are_counted_after_the_first_two() -> None:
    arms = [history(name, corrupt=5) for name in "abcd"]
    said = words.headline(run_verdict("r", arms, dict.fromkeys("abcd", 5)))
    assert said.startswith('"a" corrupts 5 of 60 sessions (8.3 %) and "b" corrupts 5 of 60')
    assert "and 2 more arms corrupt" in said


def proves(corrupt: int, sessions: int, unfinished: int = 0) -> str:
    arm: ArmVerdict = replace(
        sample_run()[0].arms[0],
        sessions=sessions,
        sessions_corrupt=corrupt,
        unfinished=unfinished,
        ci95=wilson(corrupt, sessions),
    )
    return words.proves(arm)


def test_what_n_proves_at_the_edges() -> None:
    assert proves(0, 0) == "no session: shows nothing"
    assert proves(3, 3) == "3 of 3 shows: above 43.9 %"
    assert proves(0, 1000) == "0 of 1000 shows only: below 0.4 %"


def test_none_seen_corrupt_among_missing_replies_bounds_nothing() -> None:
    assert proves(0, 60, unfinished=7) == "0 of 60 seen corrupt, 7 replies missing: shows no bound"
    assert proves(3, 60, unfinished=7).startswith("3 of 60 shows: between")


def test_small_numbers_keep_their_meaning() -> None:
    assert words.percent(0.0004) == "<0.1 %"
    assert words.p_is(3e-9) == "p < 0.0001"
    assert words.tally({"loop": 2, "wrong_value": 6, "none": 0}) == "wrong_value 6, loop 2"


def test_against_the_first_is_the_arm_less_the_first_whichever_way_it_is_stored() -> None:
    verdict, _ = sample_run()
    low, high = verdict.comparisons[0].difference_ci95
    assert 0 < low < high  # the first arm less this one
    said = words.note(verdict, verdict.arms[1])
    assert f"against the first {-100 * high:+.1f} to {-100 * low:+.1f} points" in said
