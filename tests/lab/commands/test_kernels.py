"""`kvlab kernels bench`: one document, and one line where there is no device."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.lab.kernel_bench.cases import as_on_a_gpu


@pytest.mark.parametrize("command", [["bench", "--tune", "--json"], ["audit", "--device", "cuda"]])
def test_without_a_device_it_is_one_line_and_exit_2(
    command: list[str], kvlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    said = kvlab("kernels", *command)
    assert said.code == 2 and said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith("kvlab: --device cuda: there is no CUDA device here")


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--device", "cpu", "--tune"], "--tune: means nothing with --device cpu"),
        (["--device", "cpu", "--seconds", "3"], "--seconds: means nothing with --device cpu"),
        (["--device", "cpu", "--out", "there"], "--out: means nothing with --device cpu"),
        (["--seconds", "3"], "--seconds: means nothing without --tune"),
    ],
)
def test_an_option_that_means_nothing_is_refused_in_one_line(argv, told, kvlab) -> None:
    said = kvlab("kernels", "bench", *argv)
    assert (said.code, said.out, said.err) == (2, "", f"kvlab: {told}\n")


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
