"""The folder of a bisection. One rule: it is tried before the search, which may take hours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from lab.errors import UserError
from lab.report.bisection_markdown import bisection_markdown
from lab.report.written import MARKDOWN, save, staged, write_bisection
from lab.running import folder_of

if TYPE_CHECKING:
    from lab.store import Results, StoredBisection

DOCUMENT = "bisection.json"
Written = tuple[dict[str, Any], Path]  # the document, and its folder


def check_folder(db: Path, out: Path | None) -> None:
    """Make the folder of what is written, beside the database by default, and try it.

    Raises `UserError`.
    """
    folder, option = (db.parent, "--db") if out is None else (out, "--out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        what = f"no folder for the verdict: {error.strerror}"
        raise UserError(f"{folder}: {what}; {option} names another") from None


def write(told: Mapping[str, Any], stored: StoredBisection, folder: Path) -> Path:
    """The document of what was done, its figures, its report and its page; returns their folder.

    Raises `UserError`.
    """
    with staged(folder) as made:
        images = write_bisection(told, stored, made)
        save(made / DOCUMENT, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
        save(made / MARKDOWN, bisection_markdown(told, stored, images))
    return folder


def written_again(results: Results, bisection: str, out: Path | None) -> Written:
    """What a stored bisection concluded, and the folder in which that is written once more.

    Raises `UserError` where it came to no verdict.
    """
    stored = results.bisection(bisection)
    if stored.verdict is None:
        how = f"`kvlab bisect --resume {bisection}{results.where}` goes on"
        raise UserError(f"bisection {bisection} is {stored.status.value}, without verdict; {how}")
    told = {**stored.verdict, "where": results.where.strip()}  # the file may have been moved
    return told, write(told, stored, folder_of(bisection, results.path, out))
