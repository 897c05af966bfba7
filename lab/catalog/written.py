"""The table as files: ``catalog.html``, which a browser opens as it is, and ``catalog.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.catalog.markdown import markdown
from lab.catalog.page import page
from lab.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from lab.catalog.table import Catalog


def write(table: Catalog, folder: Path) -> None:
    """Both files into ``folder``; raises `UserError` where that cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "catalog.html").write_text(page(table), encoding="utf-8")
        (folder / "catalog.md").write_text(markdown(table), encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out {folder}: {error.strerror or error}") from None
