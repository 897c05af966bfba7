"""What `runs` and `show` print of a stored run."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from lab.records import Asked
from lab.report.origin import origin
from lab.report.views import arm_view, run_view, runs_table
from lab.store import RunStatus, StoredRun
from tests.lab.disaggregated import retry
from tests.lab.report.test_table import cells, printed
from tests.lab.samples import ARMS, history, reply, sample_run
from tests.lab.tiers import DORMANT, row, tiered

STORED = StoredRun(
    id="20261129T194500-ab12",
    scenario="padded_scatter",
    yaml="",
    seed=7,
    versions={"torch": "2.13.0"},
    status=RunStatus.DONE,
    started_at=datetime(2026, 11, 29, 19, 45),
    wall_s=42.75,
    virtual_s=812.4,
    arms=tuple(ARMS),
    verdicts=("corrupt", "clean", "clean"),
)


def test_runs_are_listed_the_newest_first() -> None:
    killed = replace(
        STORED, id="20261129T200000-ffff", status=RunStatus.INTERRUPTED, verdicts=(), wall_s=None
    )
    text = printed(runs_table([STORED, killed]))
    assert text.index(killed.id) < text.index(STORED.id)
    assert cells(text, STORED.id) == [
        *("padded_scatter", "7", "done", "3", "42.8", "clean 2, corrupt 1")
    ]
    assert cells(text, killed.id)[2:] == ["interrupted", "3", "–", "not judged"]
    assert "No run yet" in printed(runs_table([]))


def test_a_run_shows_its_outcome_classes_by_arm() -> None:
    text = printed(run_view(STORED, sample_run()[0]))
    assert "20261129T194500-ab12: padded_scatter, seed 7, done" in text
    assert "began: 2026-11-29 19:45:00 UTC" in text and "versions: torch 2.13.0" in text
    assert cells(text, "leaked_markup") == ["10", "0", "0"]
    assert cells(text, "corrupt replies") == ["10", "0", "0"]


def test_an_arm_says_what_its_replies_failed_of() -> None:
    why = "HTTP 500: room_failed: room {} failed in WaitingForInput after {}.250 s"
    found = history("an arm", sessions=3, turns=1)
    failed = [
        replace(reply(s, 1, status="transport_error"), error=why.format(s, 300 + s))
        for s in range(2)
    ]
    found.replies += [*failed, reply(2, 1, status="timeout")]
    text = printed(arm_view(found))
    assert cells(text, why.format("N", "N").replace("N.250", "N")) == ["2"]
    assert cells(text, "timed out") == ["1"]
    assert "errors of tries" not in printed(arm_view(history("an arm")))


def test_an_arm_says_how_many_tries_were_asked_again_and_what_they_failed_of() -> None:
    arm = history("an arm")
    arm.events += [retry(session, 4.0, f"room {session} failed") for session in (3, 7)]
    text = printed(arm_view(arm))
    assert cells(text, "failed, asked again") == ["2"]
    assert cells(text, "room N failed") == ["2"]


def test_in_eighty_columns_no_arm_s_name_and_no_run_s_id_is_cut() -> None:
    verdict, _ = sample_run()
    names = [f"bf16, graph {way}, hicache on, page_first" for way in ("on", "off", "max")]
    arms = tuple(replace(a, name=n) for a, n in zip(verdict.arms, names, strict=True))
    text = printed(run_view(STORED, replace(verdict, arms=arms, comparisons=())), 80)
    outcomes = text[text.index("corrupt replies by class") :]
    assert all(name in outcomes for name in names)
    long = replace(STORED, scenario="host_page_reused_before_load_ack")
    listed = printed(runs_table([long]), 80)
    assert {long.id, long.scenario, "done"} <= set(listed.split())


def test_a_run_that_was_not_judged_shows_its_arms() -> None:
    text = printed(run_view(STORED, None))
    assert 'Not judged. Arms stored: "bf16, graph on", "fp8, graph on", "bf16, graph off".' in text


GOOD = [row("device", 16384), row("host", 16384)]
SHORT = [row("device", 16384), row("host", 8448, agrees=False)]


def test_a_run_shows_the_tiers_that_do_not_agree_in_which_arms() -> None:
    arms = [tiered("one", SHORT), tiered("two", GOOD)]
    said = "MISMATCH: index_k: 8,448 bytes a row on the host, 16,384 on the device"
    for verdict in (sample_run()[0], None):
        assert f'{said} (arm "one")' in printed(run_view(STORED, verdict, arms), width=120)
    assert "MISMATCH" not in printed(run_view(STORED, sample_run()[0], arms[1:]))


def test_a_run_says_why_an_arm_is_what_it_is() -> None:
    verdict, _ = sample_run()
    told = replace(verdict.arms[1], verdict="inconclusive", reason="never exercised: graph")
    text = printed(run_view(STORED, replace(verdict, arms=(verdict.arms[0], told))))
    assert "fp8, graph on: inconclusive: never exercised: graph" in text


def test_a_run_shows_copies_by_token_where_any_ran() -> None:
    ran, never = tiered("one", GOOD), tiered("two", GOOD)
    ran.counters.update({f"path:{DORMANT}": 12, f"path_rows:{DORMANT}": 3072})
    text = printed(run_view(STORED, sample_run()[0], [ran, never]))
    assert 'token_granular ran: index_k load, 12 calls, 3,072 tokens (arm "one")' in text
    assert "token_granular" not in printed(run_view(STORED, sample_run()[0], [never]))


def test_an_arm_begins_with_what_a_bug_report_needs() -> None:
    arm = replace(history("fp8, graph on"), settings={"index_k": "fp8"})
    verdict = sample_run()[0].arms[1]
    told = replace(verdict, verdict="inconclusive", reason="never exercised: graph")
    yaml = "build: [some_defect]\nworkload: {kind: twins, preset: small, sessions: 60}\n"
    stored = replace(STORED, yaml=yaml, asked=Asked(("kvlab", "run", "a b.yaml")))
    lines = printed(arm_view(arm, stored, told), width=120).splitlines()
    assert lines[0].rstrip() == "20261129T194500-ab12: padded_scatter, seed 7, done"
    about = [line.rstrip() for line in lines[1:12] if line.strip()]
    assert about[1:] == [
        "command: kvlab run 'a b.yaml'",
        "build: some_defect",
        "workload: kind twins, preset small, sessions 60",
        "versions: torch 2.13.0",
        "fp8, graph on: 60 sessions",
        arm.history_digest,
        "verdict: inconclusive: never exercised: graph",
        "expected clean: NO: clean",
    ]


def test_an_origin_that_is_not_stored_is_a_dash_and_a_preset_left_out_is_told() -> None:
    assert set(list(origin(STORED).lines().values())[:3]) == {"–"}
    short = replace(STORED, yaml="workload: {kind: twins}\n")
    assert origin(short).lines()["workload"] == "kind twins, preset reference"
    assert origin(short).lines()["build"] == "healthy"


def test_an_arm_shows_settings_endings_and_every_counter() -> None:
    arm = history("one", corrupt=2)
    arm.replies[0] = reply(0, 0, status="timeout")
    arm.stalled = "nothing left to wait for"
    text = printed(arm_view(arm))
    assert cells(text, "graph") == ["true"]
    assert cells(text, "timeout") == ["1"]
    assert cells(text, "ok, tool_calls") == ["239"]
    assert cells(text, "violation:padded_row_wrote_owned_slot") == ["31"]
    assert "wedged: nothing left to wait for" in text
