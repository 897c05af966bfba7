"""`kvlab doctor` finds facts and never fails on them."""

from __future__ import annotations

from pathlib import Path

import torch


def test_doctor_says_versions_machine_and_database(folder: Path, kvlab) -> None:
    facts = kvlab("doctor", "--json").json
    assert facts["versions"]["torch"] == torch.__version__
    assert facts["machine"]["cores"] >= 1
    assert facts["database"]["state"].startswith("absent")
    assert not (folder / "results").exists()


def test_doctor_tells_of_a_database_that_is_none(folder: Path, kvlab) -> None:
    (folder / "text.duckdb").write_text("not a database at all")
    said = kvlab("doctor", "--db", "text.duckdb")
    assert said.code == 0 and "text.duckdb" in said.out
