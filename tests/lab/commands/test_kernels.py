"""`kvlab kernels bench`: one document, and one line where there is no device."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.kernel_bench.cases import as_on_a_gpu


def test_without_a_device_it_is_one_line_and_exit_3(kvlab) -> None:
    said = kvlab("kernels", "bench", "--tune", "--json")
    assert said.code == 3 and said.out == ""
    assert said.err == "kvlab: kernels are measured on a CUDA device, and there is none here\n"


def test_a_tuning_run_prints_lines_beside_one_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kvlab
) -> None:
    as_on_a_gpu(monkeypatch)
    said = kvlab("kernels", "bench", "--tune", "--json", "--out", str(tmp_path))
    assert said.code == 0 and said.json["cases"][1]["best"] == "as chosen"
    assert "double, 8 numbers: the floor is 1.0000 ms" in said.err


def test_a_tuning_run_s_table_names_the_best_of_each_case(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kvlab
) -> None:
    as_on_a_gpu(monkeypatch)
    said = kvlab("kernels", "bench", "--tune", "--out", str(tmp_path))
    assert said.code == 0 and said.out.count("as chosen") == 3
