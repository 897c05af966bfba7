"""One small run, really driven and stored, for all tests of replays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.store import Results, open_results
from tests.lab.replaying.arms import stored


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the database is, and what is written of it."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="package")
def results(folder: Path) -> Iterator[Results]:
    """The database that holds it."""
    with open_results(folder / "lab.duckdb") as opened:
        yield opened


@pytest.fixture(scope="package")
def run(results: Results) -> str:
    """Its id."""
    return stored(results)
