"""A tuning run: everything is compiled first, and what is finished is written at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.errors import UserError
from lab.kernel_bench import tune
from lab.kernel_bench.found import gathered, modules
from tests.lab.kernel_bench.cases import as_on_a_gpu


def test_it_compiles_then_measures_and_writes_what_it_returns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = as_on_a_gpu(monkeypatch)
    said: list[str] = []
    document = tune.tune("", 20.0, said.append, tmp_path / "new")
    assert asked == ["compile", "ceilings"]
    assert [each["size"] for each in document["cases"]] == ["8 numbers", "9 numbers"]
    assert document["cases"][0]["tried"][-1]["error"] == "too large"
    assert json.loads((tmp_path / "new" / tune.FILE).read_text()) == document
    assert any("2 failed" in line for line in said)


def test_modules_of_cases_are_found_in_order_and_all_can_be_read() -> None:
    said: list[str] = []
    found = gathered("cpu", "", said.append)
    assert modules() == sorted(modules()) and said == []
    assert len({each.name for _, each in found}) == len(found)


def test_a_name_that_no_case_has_is_a_mistake() -> None:
    with pytest.raises(UserError, match="no case has 'nothing of that kind' in its name"):
        gathered("cpu", "nothing of that kind", lambda _: None)
