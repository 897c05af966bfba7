"""A safetensors file holds its tensors, and tells where it is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from lab.checkpoint import tensors
from lab.errors import UserError

SOME = {
    "a": np.array([[1.0, -2.5, 3.25]], np.float32),
    "b": np.linspace(-3, 3, 500, dtype=np.float32),
}


def written(path: Path, dtype: str = "float32") -> Path:
    with path.open("wb") as file:
        tensors.write(file, SOME, dtype)
    return path


@pytest.mark.parametrize("dtype", tensors.NAMES)
def test_numbers_come_back_as_torch_rounds_them(tmp_path: Path, dtype: str) -> None:
    found = dict(tensors.read(written(tmp_path / "it", dtype)))
    assert list(found) == ["a", "b"]
    for name, tensor in SOME.items():
        rounded = torch.from_numpy(tensor).to(getattr(torch, dtype)).float()
        assert torch.equal(torch.from_numpy(found[name].copy()), rounded)


@pytest.mark.parametrize("cut", [0, 5, 30, 400])
def test_a_file_that_is_cut_is_one_line(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "it")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(UserError, match=r"it: (no safetensors file|b is cut short)"):
        list(tensors.read(path))


@pytest.mark.parametrize("text", [b"[]", b'{"a": {"dtype": "I8"}}', b'{"a": 3}', b"\xff" * 9])
def test_a_header_of_something_else_is_one_line(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "it"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(UserError, match="no safetensors file"):
        list(tensors.read(path))
