"""What a result depends on: the digest of the code changes with the code, and with nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import lab
from lab.versions import sources, versions

MODULE = "engine/shadow/book.py"


def tree(root: Path) -> Path:
    for name in (MODULE, "kernels/ops.py", "lab/app.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    "change",
    [
        lambda it: (it / MODULE).write_text("other", encoding="utf-8"),
        lambda it: (it / MODULE).unlink(),
        lambda it: (it / MODULE).rename(it / "engine/book.py"),
        lambda it: (it / "lab/new.py").touch(),
    ],
    ids=["other text", "a module less", "another place", "a module more"],
)
def test_other_code_has_another_digest(change: Callable[[Path], object], tmp_path: Path) -> None:
    before = sources(tree(tmp_path / "a"))
    change(tree(tmp_path / "b"))
    assert sources(tmp_path / "b") != before


def test_the_same_code_has_the_same_digest_wherever_it_lies(tmp_path: Path) -> None:
    before = sources(tree(tmp_path / "a"))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b" / "tests").mkdir()
    (tmp_path / "b" / "tests" / "test.py").touch()
    (tmp_path / "b" / "lab" / "__pycache__").mkdir()
    (tmp_path / "b" / "lab" / "__pycache__" / "app.pyc").touch()
    assert sources(tmp_path / "b") == before


def test_every_run_says_which_code_it_is_of() -> None:
    assert versions()["sources"] == sources(Path(lab.__file__).resolve().parents[1])
