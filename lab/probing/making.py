"""`kvlab probe make`: the folder, written. One rule: only an empty folder, a new one, or a probe
made before is written to; files of others that lie beside it stay.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.probe.weights import tensors
from lab.checkpoint.tensors import write
from lab.errors import UserError
from lab.probing.files import CONFIG, MARK, WEIGHTS, texts

if TYPE_CHECKING:
    from pathlib import Path

    from engine.probe.shape import ProbeShape


def make(folder: Path, shape: ProbeShape) -> dict[str, Any]:
    """Write the checkpoint; what it is, and how large. Raises ``UserError`` where it cannot be."""
    if options_of(folder) is None and _taken(folder):
        raise UserError(f"{folder}: holds something else than a probe; name a folder of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts(shape).items():  # first, so that a half-made folder is known again
            (folder / name).write_text(text, encoding="utf-8")
        with (folder / WEIGHTS).open("wb") as file:
            write(file, dict(tensors(shape)), shape.dtype)
        size = sum((folder / name).stat().st_size for name in (*texts(shape), WEIGHTS))
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from None
    options = asdict(shape) | {"layers": shape.layers}
    return {"folder": str(folder), "bytes": size, "kv_elements": shape.kv_elements, **options}


def options_of(folder: Path) -> dict[str, Any] | None:
    """The form and the options that a probe was made with; None where there is none."""
    try:
        found = json.loads((folder / CONFIG).read_bytes()).get(MARK)
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, dict) else None


def _taken(folder: Path) -> bool:
    try:
        return folder.exists() and any(folder.iterdir())
    except NotADirectoryError:
        return True
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from None
