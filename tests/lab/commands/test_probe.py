"""`kvlab probe`: a checkpoint is made, and a damaged one is one line and exit 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SMALL = ("--context", "1600", "--dtype", "float32")


def test_a_probe_is_made_and_found_good(kvlab, tmp_path: Path) -> None:
    made = kvlab("probe", "make", "--out", str(tmp_path / "it"), *SMALL)
    assert (made.code, made.err) == (0, "")
    assert "2,048 numbers a token in the KV cache" in made.out
    said = kvlab("probe", "check", str(tmp_path / "it"), "--json")
    document = json.loads(said.out)
    assert said.code == 0 and document["good"] and document["wrong"] == 0
    assert document["tokens"] > 200 and document["margins"]["logit"] > 10


def test_a_damaged_file_is_named_and_exit_1(kvlab, tmp_path: Path) -> None:
    kvlab("probe", "make", "--out", str(tmp_path / "it"), *SMALL)
    (tmp_path / "it" / "tokenizer.json").unlink()
    said = kvlab("probe", "check", str(tmp_path / "it"))
    assert said.code == 1
    assert "tokenizer.json: No such file or directory" in said.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--layers", "3"], "layers: 3; accepted: 4 or more"),
        (["--head-dim", "96"], "head_dim is 96; accepted: 64, 128, 256"),
        (["--dtype", "int8"], "dtype is int8; accepted: bfloat16, float16, float32"),
    ],
)
def test_a_shape_that_cannot_be_is_one_line_and_exit_2(kvlab, tmp_path, options, says) -> None:
    said = kvlab("probe", "make", "--out", str(tmp_path / "it"), *options)
    assert said.code == 2 and says in said.err and said.err.count("\n") == 1
    assert not (tmp_path / "it").exists()


def test_a_folder_without_a_probe_is_one_line_and_exit_2(kvlab, tmp_path: Path) -> None:
    said = kvlab("probe", "check", str(tmp_path))
    assert said.code == 2 and "no probe" in said.err and said.err.count("\n") == 1
