"""A checkpoint that engines serve: its files agree with each other, and with the formats."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lab import tiny_model
from lab.errors import UserError


def tensors(folder: Path) -> dict[str, np.ndarray]:
    """The tensors, read as the format's documentation says."""
    data = (folder / "model.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    header.pop("__metadata__")
    ends = [at for it in header.values() for at in it["data_offsets"]]
    assert (min(ends), max(ends)) == (0, len(body))
    return {
        name: np.frombuffer(body[slice(*it["data_offsets"])], "<f4").reshape(it["shape"])
        for name, it in header.items()
    }


def test_the_tensors_have_the_shapes_of_the_configuration(tmp_path: Path) -> None:
    tiny_model.write(tmp_path)
    shape, found = json.loads((tmp_path / "config.json").read_text()), tensors(tmp_path)
    hidden, kv = shape["hidden_size"], shape["hidden_size"] // shape["num_attention_heads"]
    assert found["lm_head.weight"].shape == (shape["vocab_size"], hidden)
    assert found["model.layers.1.self_attn.k_proj.weight"].shape == (kv, hidden)
    assert len(found) == 3 + 12 * shape["num_hidden_layers"]
    assert all(tensor.dtype == np.float32 for tensor in found.values())


def test_a_seed_is_a_model(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        tiny_model.write(tmp_path / name, seed)
    a, b, c = ((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")
    assert a == b != c


def test_only_printable_ascii_and_the_end_have_a_logit(tmp_path: Path) -> None:
    tiny_model.write(tmp_path)
    heads = tensors(tmp_path)["lm_head.weight"]
    said = set(np.flatnonzero(heads.any(axis=1)).tolist())
    assert said == {*tiny_model.SAYS, *tiny_model.ENDS}
    ends = json.loads((tmp_path / "generation_config.json").read_text())["eos_token_id"]
    assert ends == list(tiny_model.ENDS)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        tiny_model.write(tmp_path / "file")
