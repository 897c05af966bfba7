"""The table of this checkout, made once; and a small one that is made up."""

from __future__ import annotations

import pytest

from lab.catalog import Catalog, whole
from tests.lab.catalog.made_up import TABLE


@pytest.fixture(scope="session")
def table() -> Catalog:
    """What `kvlab catalog` shows."""
    return whole()


@pytest.fixture
def small() -> Catalog:
    """One incident, one violation, one detector."""
    return TABLE
