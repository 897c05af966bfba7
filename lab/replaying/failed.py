"""A run or a bundle, with or without a session. One rule: what can be told apart is not guessed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import StoreError, UserError
from lab.replaying.bundle import MANIFEST
from lab.replaying.stopping import wrong_turns
from lab.store import open_results

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.records import Finding


def refuse_run(what: str, db: Path) -> None:
    """Raise `UserError` where ``what`` is a stored run, of which a session must be named."""
    found = None if _packed(what) else _failed(what, db)
    if found is not None:
        those = ", ".join(map(str, found))
        known = f"those that failed: {those}" if found else "none of them failed"
        raise UserError(f"SESSION is missing; {known}")


def refuse_bundle(what: str, db: Path) -> None:
    """Raise `UserError` where ``what`` is a folder and no stored run has its name."""
    if _packed(what) or (Path(what).is_dir() and _failed(what, db) is None):
        raise UserError(f"{what}: a bundle takes no SESSION")


def failed(arms: Iterable[Iterable[Finding]]) -> list[int]:
    """The sessions that had a reply which is surely wrong, in any arm, in order."""
    return sorted({it.session for arm in arms for it in arm if wrong_turns([it], it.session)})


def _packed(what: str) -> bool:
    return (Path(what) / MANIFEST).is_file()


def _failed(what: str, db: Path) -> list[int] | None:
    """The sessions that failed of the run that is meant; None where no run is."""
    try:
        with open_results(db, create=False) as results:
            return failed(results.findings(results.resolve(what)).values())
    except StoreError:
        return None
