"""The markdown of a run stands alone in a bug report."""

from __future__ import annotations

from dataclasses import replace

from lab.judging import judge_run
from lab.records import Asked
from lab.report.markdown import markdown, pasted
from tests.lab.disaggregated import disaggregated, late_write
from tests.lab.report.test_views import STORED
from tests.lab.samples import history, run_verdict, sample_run
from tests.lab.tiers import row, tiered


def test_it_holds_what_a_reader_needs_to_judge_and_to_repeat() -> None:
    text = markdown(sample_run()[0])
    assert text.startswith('# padded_scatter: run 20261129T194500-ab12\n\n"bf16, graph on" corr')
    assert "| bf16, graph on | 10/60 | 16.7 % | 9.3–28.0 % | first | 10/240 | 0 | corrupt |" in text
    assert "| fp8, graph on | 0/60 | 0 % | 0–6.0 % | 0.0013 | 0/240 | 0 | clean | yes |" in text
    assert "| bf16, graph on | leaked_markup 10 | padded_row_wrote_owned_slot 31 |" in text
    assert "`index_k=bf16, graph=true, graph_max_bs=64, arrival_rate=2.5`" in text
    assert "Seed 7;" in text
    assert "sha256:" in text


FIGURES = {"latency.png": "How long.", "rates.png": "Rates [95 %]."}
SHORT = [row("device", 16384), row("host", 8448, agrees=False)]


def test_it_ends_with_the_command_the_build_the_load_and_the_versions() -> None:
    yaml = "build: [some_defect]\nworkload: {kind: twins, preset: small, sessions: 60}\n"
    argv = ("kvlab", "run", "a.yaml", "--set", "engine.pool_pages=280", "--sessions", "24")
    stored = replace(STORED, yaml=yaml, asked=Asked(argv))
    text = markdown(sample_run()[0], stored)
    ends = text[text.index("## To repeat it") :]
    command = "kvlab run a.yaml --set engine.pool_pages=280 --sessions 24"
    assert f"```sh\n{command}\n```\n" in ends
    assert "- build: some_defect\n- workload: kind twins, preset small, sessions 60\n" in ends
    assert "- versions: torch 2.13.0\n" in ends


def test_it_holds_the_tiers_that_do_not_agree_and_the_copies_that_ran() -> None:
    arms = [tiered("one", SHORT), tiered("two", [row("device", 64), row("host", 64)])]
    verdict, _ = judge_run("r", "s", 0, arms, None)
    text = markdown(verdict, None, arms)
    assert "| one | index_k | device | layer_first | 256 | 64 | 16384 | 1 | 833 | yes |" in text
    assert "| one | index_k | host | layer_first | 256 | 64 | 8448 | 1 | 1665 | MISMATCH |" in text
    assert "| two | index_k | host" not in text and "| token_granular |" not in text
    ran = "index_k | load | per_layer_mla | layer_first | 85 | 340 | page rows |"
    assert f"| one | {ran}" in text and f"| two | {ran}" in text
    assert "- geometry: index_k: 8,448 bytes a row on the host, 16,384 on the device (arm" in text


def test_figures_are_shown_from_the_report_s_own_folder() -> None:
    text = markdown(sample_run()[0], figures=FIGURES)
    assert "## Figures\n\n![How long.](latency.png)\n\n![Rates (95 %).](rates.png)\n" in text
    assert "Figures" not in markdown(sample_run()[0])


def test_pasted_elsewhere_it_says_which_figures_to_attach() -> None:
    text = pasted(markdown(sample_run()[0], figures=FIGURES))
    assert "\n\n## Figures\n\nAttach latency.png, rates.png.\n\n## To repeat it\n" in text
    assert "![" not in text
    without = markdown(sample_run()[0])
    assert pasted(without) == without


def test_a_disaggregated_arm_has_a_line_with_writers_and_victims() -> None:
    pair = disaggregated("pd")
    pair.events.append(late_write(2, 5, 301))
    verdict, _ = judge_run("r", "s", 0, [pair, history("plain")], None)
    text = markdown(verdict)
    assert "- rooms: 6, 1 failed (timed out in WaitingForInput 1); 1 late write: room 2" in text
    assert "room 2 into room 5 (request 1005): page 301 (256 rows of c4, index_k, c128)" in text
    assert text.count("- rooms: ") == 1


def test_a_run_without_host_tiers_says_nothing_of_them() -> None:
    verdict, arms = sample_run()
    assert "Host tiers" not in markdown(verdict, STORED, arms)


def test_every_table_has_as_many_cells_in_each_line_as_heads() -> None:
    bar = history("a | b")
    text = markdown(run_verdict("r", [bar], {"a | b": 0}), STORED, [tiered("a | b", SHORT)])
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) == 6
    for lines in tables:
        widths = [line.replace(r"\|", "").count("|") for line in lines]
        assert widths == [widths[0]] * len(lines)
