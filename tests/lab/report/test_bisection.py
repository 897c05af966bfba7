"""What a person reads of a bisection: the words are the numbers, for every verdict."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from lab.bisect.conclusion import Role, Verdict
from lab.bisect.trials import Unit
from lab.report.bisection import bisection_report
from lab.report.bisection_sections import e_value, sections
from lab.report.bisection_untested import untested
from lab.report.bisection_words import headline
from lab.report.section import Section
from tests.lab.bisections import BOTH_ENDS, CONFIRMED, SEARCHED, WEDGED, ended, told


def said(document: dict[str, Any], width: int = 100) -> str:
    """What a terminal of that width shows."""
    console = Console(width=width, record=True, file=StringIO())
    console.print(bisection_report(document), markup=False, highlight=False)
    return console.export_text()


def section(document: dict[str, Any], title: str) -> Section:
    (found,) = [it for it in sections(document) if it.title == title]
    return found


def row(found: Section, name: str) -> tuple[str, ...]:
    (one,) = [cells for cells in found.rows if cells[0].removesuffix(" *") == name]
    return one


def test_the_headline_names_the_culprits_and_counts_with_and_without_them() -> None:
    assert headline(told(CONFIRMED)) == (
        "CONFIRMED: index_k=bf16 and graph=true together; "
        "15 of 84 sessions with both, 0 of 244 with either one good"
    )
    one = replace(CONFIRMED, culprits=("graph",), context=("index_k", "overlap", "concurrency"))
    assert headline(told(one)) == (
        "CONFIRMED: graph=true; 15 of 184 sessions with it, 0 of 144 without it"
    )
    three = replace(CONFIRMED, culprits=("index_k", "graph", "overlap"), context=("concurrency",))
    assert headline(told(three)) == (
        "CONFIRMED: index_k=bf16, graph=true and overlap=true together; "
        "9 of 44 sessions with all three, 6 of 284 with any of them good"
    )


def test_the_headline_counts_boots_where_a_boot_is_the_unit() -> None:
    boots = headline(told(replace(CONFIRMED, unit=Unit.BOOT)))
    assert boots.endswith("together; 4 of 4 boots with both, 0 of 4 with either one good")


def test_what_was_seen_too_seldom_was_not_tested_and_was_not_seen() -> None:
    line = "not excluded by n = 9 boots with it good: that one of these raises the rate: graph"
    document = told(replace(CONFIRMED, others=("another cause is left", line)))
    assert section(document, "Also seen").lines == ("another cause is left",)
    assert section(document, "What was not tested").lines == (line,)
    assert line in untested(document)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_fits_a_hundred_columns_and_says_what_is_next(verdict: Verdict) -> None:
    document = ended(verdict)
    text = said(document)
    assert text.startswith(f"{verdict.value}: ")
    assert max(map(len, text.splitlines())) <= 100
    joined = " ".join(text.split())
    assert document["reason"].rpartition(": ")[2] in joined
    assert all(" ".join(line.split()) in joined for line in document["guarantee"])
    assert section(document, "What to do next").lines
    assert f"{document['sessions_spent']} of 400 sessions were driven" in joined


def test_a_toggle_has_its_role_and_its_rates_where_the_other_culprits_are_bad() -> None:
    found = section(told(CONFIRMED), "Toggles")
    assert row(found, "index_k") == (
        *("index_k *", "bf16", "fp8", "NECESSARY"),
        *("17.9 (15 of 84)", "0 (0 of 100)", "0–3.6"),
    )
    # without overlap: the discovery's and the confirmation's probes of both culprits alone
    assert row(found, "overlap") == (
        *("overlap", "true", "false", "INNOCENT"),
        *("20.5 (9 of 44)", "15.0 (6 of 40)", "5.7–29.8"),
    )
    assert row(found, "concurrency")[3] == Role.AGGRAVATING.value
    assert "INNOCENT: not needed for it; a smaller change of its rate is not excl" in found.lines[0]


def test_arms_stand_with_units_rate_interval_bounds_and_evidence() -> None:
    found = section(told(CONFIRMED), "Arms")
    assert row(found, "reproduce: every toggle bad")[1:4] == ("24", "5", "20.8")
    assert row(found, "confirm: without index_k")[1:] == (
        *("100", "0", "0", "0–3.6", "0–4.5", "512"),
    )
    assert row(found, "confirm: without graph")[-1] == ">1e6"
    phases, enough = found.lines
    assert phases.startswith("A row counts the trials of its own phase")
    assert enough == "e-values say how much rarer than with all bad; 300 is enough."


def test_a_column_in_which_nothing_is_known_is_left_out() -> None:
    heads = section(ended(Verdict.NOT_CONTROLLED), "Arms").heads
    assert heads == ("arm", "sessions", "corrupt", "rate %", "95 %")


def test_a_threshold_is_a_bracket_with_its_levels() -> None:
    found = section(told(CONFIRMED), "Threshold of concurrency")
    assert found.rows == (
        ("1", "100", "0", "0", "0–3.6"),
        ("4", "8", "1", "12.5", "0.3–52.7"),
    )
    assert found.lines[0] == (
        "concurrency turns between 1 (clean: 0 of 100, below 3.6 %) and 4 (corrupt: 1 of 8)"
    )


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"bad_above": None, "clean_below": 8}, "clean at every level that was tried, up to 8"),
        ({"clean_below": None, "bad_above": 1}, "corrupt at every level that was tried, down to 1"),
        ({"monotone": False}, "not for good: a level beyond is clean again"),
    ],
)
def test_a_bracket_says_where_it_is_none(changed: dict[str, Any], line: str) -> None:
    (bracket,) = CONFIRMED.thresholds
    found = replace(CONFIRMED, thresholds=(replace(bracket, **changed),))
    assert line in " ".join(said(told(found)).split())


def test_evidence_stands_beside_that_of_the_arms_that_are_cleared() -> None:
    found = section(told(CONFIRMED), "What was seen")
    assert found.heads[2:] == ("all culprits bad,\n84 sessions", "one good,\n244 sessions")
    assert ("violation", "padded_row_wrote_owned_slot", "60", "0") in found.rows
    assert ("fault", "late_ack", "2", "3") in found.rows
    assert ("exposure", "padded_rows", "36", "9") in found.rows


def test_what_is_left_stands_with_what_is_believed_of_it() -> None:
    document = ended(Verdict.UNDETERMINED)
    assert headline(document) == (
        "UNDETERMINED: 14 sets of toggles are left; "
        "5 of 24 sessions corrupt with every toggle bad, 0 of 24 with every toggle good"
    )
    found = section(document, "Sets left")
    assert found.rows[:3] == (("graph", "50.0"), ("index_k + graph", "30.0"), ("index_k", "–"))
    assert (len(found.rows), found.lines) == (8, ("and 6 sets more",))
    assert "88 of 90 sessions are spent" in said(document)


def test_not_reproduced_shows_what_was_reached_and_what_never_was() -> None:
    document = ended(Verdict.NOT_REPRODUCED)
    found = section(document, "Reached with every toggle bad")
    assert found.rows == (
        ("per_page", "load", "layer_first", "c4 12", "12"),
        ("token_granular", "load", "layer_first", "c4 0, swa 0", "0"),
    )
    assert found.lines == ("copy paths without a call: token_granular (load) for c4, swa",)
    seen = section(document, "What was seen")
    assert ("exposure", "padded_rows", "9", "0") in seen.rows
    assert "Reached with every toggle bad" not in said(told(CONFIRMED))


def test_liveness_says_who_waits_for_what() -> None:
    found = section(ended(Verdict.LIVENESS), "Who waits for what")
    assert found.lines == (f"{WEDGED} (probes: 5)",)


def test_many_reasons_are_counted_after_the_first_few() -> None:
    document = ended(Verdict.LIVENESS)
    for number, one in enumerate(document["probes"]):
        one["unknown"] = [f"session {number} waited"]
    assert section(document, "Who waits for what").lines[-1] == "and 1 reasons more"


def test_what_ends_it_is_named_at_its_good_value() -> None:
    assert section(told(CONFIRMED), "What to do next").lines[0] == (
        "until it is fixed: index_k=fp8 or graph=false; either ends it in what was run"
    )


def test_what_is_offered_finds_the_database_that_is_not_the_default() -> None:
    made = {"scenario": "x/replay.yaml", "run": "r7", "sessions": [0], "sessions_planned": 4}
    there = {**told(CONFIRMED), "replay": made, "where": "--db mine.duckdb"}
    assert "`kvlab show r7 --db mine.duckdb`" in section(there, "What to do next").lines[0]
    assert "`kvlab show r7`" in section({**there, "where": ""}, "What to do next").lines[0]
    left = {**ended(Verdict.UNDETERMINED), "where": "--db mine.duckdb"}
    assert "--budget N --db mine.duckdb`" in section(left, "What to do next").lines[0]


def test_every_session_is_in_the_table_of_phases() -> None:
    found = section(told(CONFIRMED), "Sessions spent")
    assert [cells[0] for cells in found.rows] == [
        *("reproduce", "control", "discover", "confirm", "threshold"),
    ]
    assert sum(int(cells[3]) for cells in found.rows) == sum(it.sessions for it in SEARCHED)
    assert row(found, "confirm")[1:] == ("4", "4", "240", "7")


def test_a_narrow_terminal_cuts_nothing() -> None:
    text = said(told(CONFIRMED), 60)
    assert "17.9 (15 of 84)" in text and "NECESSARY" in text and ">1e6" in text


def test_what_else_was_seen_is_said() -> None:
    document = told(replace(CONFIRMED, others=("another cause is left",)), BOTH_ENDS)
    assert section(document, "Also seen").lines == ("another cause is left",)


def test_evidence_has_three_digits_at_most() -> None:
    assert [e_value(e) for e in (None, 0.25, 337.4, 4.82e5, 1.7e308)] == [
        *("–", "0.25", "337", "4.82e+05", ">1e6"),
    ]


def test_where_wedges_are_sought_they_are_what_is_counted() -> None:
    document = {**ended(Verdict.UNDETERMINED), "outcome": "wedged"}
    assert "5 of 24 sessions wedged with every toggle bad" in headline(document)
    text = said(document)
    assert "(wedged)" in text and "Wedged sessions with the toggle bad" in text
    assert "orrupt" not in text


def test_what_was_never_reached_is_news_only_where_nothing_was_found() -> None:
    named = [("exposure", "transfers", "0", "0")]
    for verdict, shown in ((Verdict.NOT_REPRODUCED, named), (Verdict.CONFIRMED, [])):
        document = ended(verdict)
        document["exposure"] = {"culprit": {"transfers": 0, "padded_rows": 1234}, "cleared": {}}
        rows = section(document, "What was seen").rows
        assert [it for it in rows if it[1] == "transfers"] == shown
        assert ("exposure", "padded_rows", "1,234", "0") in rows


def test_of_exposure_only_what_a_run_s_tables_show_is_shown() -> None:
    document = told(CONFIRMED)
    some = {"padded_rows": 5, "host_hits": 0, "prefill_steps": 77, "load_wait_us": 9}
    document["exposure"] = {"culprit": some, "cleared": {"pages_restored": 2}}
    rows = section(document, "What was seen").rows
    shown = [name for kind, name, *_ in rows if kind == "exposure"]
    assert shown == ["padded_rows", "pages_restored"]
