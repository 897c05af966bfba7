"""How errors and documents are said. Rule: an error is one line, a document is one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def one_line(error: BaseException) -> str:
    """An error's kind, and the first and the last line of what it says: a compiler's last says why,
    an assertion may say nothing.
    """
    said = [text.strip() for text in str(error).splitlines() if text.strip()] or ["nothing"]
    return f"{type(error).__name__}: {' ... '.join(dict.fromkeys((said[0], said[-1])))}"[:300]


def write_json(document: Mapping[str, Any], folder: Path, name: str) -> None:
    """To a file of a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=2, ensure_ascii=False)
    (folder / name).write_text(text + "\n", encoding="utf-8")
