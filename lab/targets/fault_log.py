"""What the fault of a build says of itself in the log of a launched server: evidence, not verdict.

One rule: a row is an event of the arm as it was told, and makes no arm corrupt; that is what the
replies are for.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.events import EventLog
    from lab.launching.servers import Server
    from lab.profiles import Profile

INJECTED, MET = "fault_injected", "fault_met"  # a damage; a request that was given what it damaged


class FaultLog:
    """The log from now on: what came before was of other arms."""

    def __init__(self, server: Server, profile: Profile | None, build: Sequence[str]) -> None:
        known = profile.faults if profile else {}
        self._rows = [re.compile(known[name].rows) for name in build if name in known]
        self._path = server.logs.get(profile.endpoint) if profile else None
        self._from = len(self._read())

    def tell(self, log: EventLog) -> None:
        """Put the rows that came since into the arm's history, and count them."""
        text = self._read()[self._from :]
        told = [_fields(row) for pattern in self._rows for row in pattern.findall(text)]
        told = [fields for fields in told if fields]
        met = [fields for fields in told if "met" in fields]
        for fields in told:
            log.emit(MET if "met" in fields else INJECTED, **fields)
        if self._rows:
            log.count("faults_injected", len(told) - len(met))
            log.count("faults_met", len({fields.get("request") for fields in met}))

    def _read(self) -> str:
        if not self._rows or self._path is None or not self._path.exists():
            return ""
        return self._path.read_text(errors="replace")


def _fields(row: str) -> dict[str, Any]:
    """The fields of a row; none of one that was torn."""
    try:
        fields = json.loads(row)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
