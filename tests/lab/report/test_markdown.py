"""The markdown of a run stands alone in a bug report."""

from __future__ import annotations

from lab.report.markdown import markdown
from tests.lab.samples import history, run_verdict, sample_run


def test_it_holds_what_a_reader_needs_to_judge_and_to_repeat() -> None:
    text = markdown(sample_run()[0])
    assert text.startswith('# padded_scatter: run 20261129T194500-ab12\n\n"bf16, graph on" corr')
    assert "| bf16, graph on | 10/60 | 16.7 % | 9.3–28.0 % | first | 10/240 | 0 | corrupt |" in text
    assert "| fp8, graph on | 0/60 | 0 % | 0–6.0 % | 0.0013 | 0/240 | 0 | clean | yes |" in text
    assert "| bf16, graph on | leaked_markup 10 | padded_row_wrote_owned_slot 31 |" in text
    assert "`index_k=bf16, graph=true, graph_max_bs=64, arrival_rate=2.5`" in text
    assert "Seed 7;" in text
    assert "sha256:" in text


def test_every_table_has_as_many_cells_in_each_line_as_heads() -> None:
    bar = history("a | b")
    text = markdown(run_verdict("r", [bar], {"a | b": 0}))
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) == 4
    for lines in tables:
        widths = [line.replace(r"\|", "").count("|") for line in lines]
        assert widths == [widths[0]] * len(lines)
