"""What a scenario expects of its arms. One rule: an arm's own name goes before ``*``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# An arm's name or "*" -> an object with ``verdict`` and ``violations``, or a mapping with them.
Expect = Mapping[str, Any]


def expected_verdict(expect: Expect | None, name: str) -> str | None:
    """What the scenario expects of the arm, by its name or by ``*``."""
    wanted = _wanted(expect, name)
    if wanted is None or isinstance(wanted, str):
        return wanted
    verdict = wanted["verdict"] if isinstance(wanted, Mapping) else wanted.verdict
    return str(verdict)


def expected_violations(expect: Expect | None, name: str) -> tuple[str, ...]:
    """The violations and faults that the scenario wants named in the arm."""
    wanted = _wanted(expect, name)
    if wanted is None or isinstance(wanted, str):
        return ()
    if isinstance(wanted, Mapping):
        return tuple(wanted.get("violations", ()))
    return tuple(wanted.violations)


def _wanted(expect: Expect | None, name: str) -> Any:
    return (expect or {}).get(name, (expect or {}).get("*"))
