"""A folder is the closed form's, byte for byte, and a check names what of it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.probe.shape import ProbeShape
from lab.errors import UserError
from lab.probing import check, make
from lab.probing.checking import shape_of
from lab.probing.report import table

SHORT = ProbeShape(context=1600, dtype="float16")  # a manual of one or two entries fits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "probe", SHORT)
    return tmp_path / "probe"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_fresh_folder_is_good_and_its_margins_are_wide(folder: Path) -> None:
    report = check(folder)
    assert report.good and (report.damaged, report.wrong) == ((), 0)
    assert report.tokens > 200 and min(report.margins.values()) > 10


def test_equal_options_are_equal_bytes(folder: Path, tmp_path: Path) -> None:
    made = make(tmp_path / "again", SHORT)
    assert contents(tmp_path / "again") == contents(folder)
    assert made["bytes"] == sum(map(len, contents(folder).values())) < 200e6


def test_a_probe_is_made_anew_with_other_options(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    make(folder, ProbeShape(dtype="float32"))
    assert shape_of(folder).dtype == "float32" and (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["notes.txt", "config.json"])
def test_a_folder_that_is_something_else_stays_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(UserError, match="holds something else than a probe"):
        make(tmp_path, SHORT)
    assert contents(tmp_path) == {name: b"{}"}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "it").write_text("")
    with pytest.raises(UserError, match="holds something else"):
        make(tmp_path / "it", SHORT)


def test_a_number_that_was_changed_is_named_by_its_tensor_and_place(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 0x40
    path.write_bytes(data)
    [said] = check(folder).damaged
    assert said.startswith("model.safetensors: lm_head.weight[271, ")
    assert said.endswith("; 1 of 278,528 numbers differ")


@pytest.mark.parametrize(
    ("size", "says"),
    [(0, "no safetensors file"), (9_000_000, "is cut short"), (None, "No such file or directory")],
)
def test_weights_that_are_not_whole_are_one_line(folder: Path, size: int | None, says: str) -> None:
    path = folder / "model.safetensors"
    if size is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:size])
    [said] = check(folder).damaged
    assert said.startswith("model.safetensors: ") and says in said


def test_a_text_that_was_changed_is_named_by_its_line(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(path.read_text().replace('"qwen2"', '"qwen3"'))
    assert check(folder).damaged == (
        """config.json: line 5 is '"model_type": "qwen3",' instead of '"model_type": "qwen2",'""",
    )


def test_a_folder_without_a_probe_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="kvlab probe make --out"):
        check(tmp_path)


def test_options_that_no_probe_has_are_one_line(folder: Path) -> None:
    path = folder / "config.json"
    told = json.loads(path.read_text())
    told["kvlab_probe"]["heads"] = 3
    path.write_text(json.dumps(told))
    with pytest.raises(UserError, match=r"config.json: kvlab_probe: heads is 3"):
        check(folder)


@pytest.mark.parametrize("form", [None, 7])
def test_a_folder_of_another_form_is_said_to_be_one_and_is_not_damaged(
    folder: Path, form: int | None
) -> None:
    """Its options may be others too, so nothing else of it is looked at."""
    path = folder / "config.json"
    told = json.loads(path.read_text())
    told["kvlab_probe"] = {"eyes": 2} | ({} if form is None else {"form": form})
    path.write_text(json.dumps(told))
    report = check(folder)
    assert (report.good, report.damaged, report.form) == (False, (), form)
    [said] = list(table(report).columns[1].cells)
    assert "and this kvlab has form 1: `kvlab probe make --out " in str(said)


def test_a_folder_of_another_form_is_made_anew(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(path.read_text().replace('"form": 1', '"form": 0'))
    assert check(folder).form == 0
    make(folder, SHORT)
    assert check(folder).damaged == ()


def test_a_context_that_no_conversation_fits_in_is_not_good(tmp_path: Path) -> None:
    make(tmp_path / "tiny", ProbeShape(context=64))
    report = check(tmp_path / "tiny")
    assert not report.good and report.tokens == 0
