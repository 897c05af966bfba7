"""The report of a chunk's bytes: Flash beside what runs here, every sum with its total."""

from __future__ import annotations

import json

from rich.console import Console

from lab.chunk_bytes import chunk_report, chunk_table


def said() -> list[str]:
    """The printed report, every line with single spaces."""
    console = Console(width=100)
    with console.capture() as shown:
        console.print(chunk_table(chunk_report()), markup=False, highlight=False)
    return [" ".join(line.split()) for line in shown.get().splitlines()]


def test_the_report_is_json_with_both_models_and_both_dtypes() -> None:
    report = json.loads(json.dumps(chunk_report()))
    totals = {m: [report[m][d]["total"] for d in ("fp8", "bf16")] for m in ("flash", "here")}
    assert totals == {"flash": [31_942_656, 37_275_648], "here": [1_523_712, 1_777_664]}
    assert report["here"]["layers"]["swa"] == 4


def test_a_pool_s_row_has_item_layers_and_bytes_of_both_models() -> None:
    assert "index_k, bf16 16,384 21 11,010,048 1 524,288" in said()


def test_totals_are_given_for_either_dtype() -> None:
    lines = said()
    assert "total, fp8 31,942,656 1,523,712" in lines
    assert "total, bf16 37,275,648 1,777,664" in lines
    assert "Flash: 31.9 MB with fp8, 37.3 MB with bf16, x1.17." in lines


def test_what_goes_once_is_a_table_of_its_own() -> None:
    lines = said()
    once = lines[lines.index("Once a request, with its last chunk") :]
    assert "c128_state 524,288 20 10,485,760 1 524,288" in once
    assert "total 18,645,824 1,205,312" in once
