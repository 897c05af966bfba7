"""A detector's own bug is UNKNOWN: it neither convicts a reply nor passes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors import Context, Detector, Kind, worst
from tests.lab.replies import CONTEXT, said

if TYPE_CHECKING:
    from lab.records import Reply


def _broken(reply: Reply, context: Context) -> str | None:
    raise ZeroDivisionError("a bug")


def test_a_detector_that_raises_finds_that_it_does_not_know() -> None:
    found = Detector("broken", 1, Kind.CORRUPT, _broken)(said("x"), CONTEXT)
    assert found is not None
    assert found.outcome == "unknown"
    assert "ZeroDivisionError: a bug" in found.detail
    assert worst([found], Kind.CORRUPT) is None
