"""The folder of a bisection. One rule: it is tried before the search, which may take hours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from lab.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from lab.bisecting.document import Bisected

DOCUMENT = "bisection.json"


def check_folder(folder: Path) -> None:
    """Make the folder and try it; raises `UserError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        what = f"no folder for the verdict: {error.strerror}"
        raise UserError(f"{folder}: {what}; --out names another") from None


def write(done: Bisected, told: Mapping[str, Any], folder: Path) -> None:
    """The document of what was done, as a file; raises `UserError`."""
    file = folder / DOCUMENT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
