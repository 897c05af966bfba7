"""`kvlab probe check`: a folder held against the closed form, and against a forward of our own.

One rule: what is damaged is told by its file and place, and then nothing is computed with it. A
folder of another form is whole, and not ours to check.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import ConfigError
from engine.probe.shape import ProbeShape
from engine.probe.weights import tensors
from lab.checkpoint.tensors import NAMES, loaded, read, stored, write
from lab.errors import UserError
from lab.probing.exactness import exactness
from lab.probing.files import FORM, MARK, WEIGHTS, texts
from lab.probing.making import options_of
from lab.probing.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]


def check(folder: Path) -> Report:
    """Whether engines may be judged by it; raises ``UserError`` where there is no probe at all."""
    form, options = _made_with(folder)
    if form != FORM:
        return Report(str(folder), options, form=form)
    shape = shape_of(folder)
    damaged = (*_texts(folder, shape), *_weights(folder, shape))
    if damaged:
        return Report(str(folder), asdict(shape), damaged)
    found = exactness(dict(read(folder / WEIGHTS)), shape)
    return Report(str(folder), asdict(shape), **found)


def shape_of(folder: Path) -> ProbeShape:
    """The shape that the folder's configuration names."""
    _, options = _made_with(folder)
    try:
        return ProbeShape(**options)
    except (ConfigError, TypeError) as error:
        raise UserError(f"{folder / 'config.json'}: {MARK}: {error}") from None


def _made_with(folder: Path) -> tuple[int | None, dict[str, Any]]:
    """The form, None where it is of the time before forms had numbers, and the options."""
    options = options_of(folder)
    if options is None:
        raise UserError(f"{folder}: no probe; `kvlab probe make --out {folder}` makes one")
    form = options.pop("form", None)
    return form if isinstance(form, int) else None, options


def _texts(folder: Path, shape: ProbeShape) -> Iterator[str]:
    for name, text in texts(shape).items():
        try:
            found = (folder / name).read_bytes()
        except OSError as error:
            yield f"{name}: {error.strerror}"
            continue
        if found != text.encode():
            yield f"{name}: {_line(found.decode(errors='replace'), text)}"


def _line(found: str, due: str) -> str:
    """The first line that is another."""
    lines = due.splitlines()
    for number, line in enumerate(found.splitlines()):
        if number >= len(lines) or line != lines[number]:
            other = lines[number].strip() if number < len(lines) else "the end"
            return f"line {number + 1} is {line.strip()[:60]!r} instead of {other[:60]!r}"
    return "ends too early"


def _weights(folder: Path, shape: ProbeShape) -> Iterator[str]:
    """What is wrong with the weights; the file is read whole only where it is another."""
    due = dict(tensors(shape))
    try:
        if _digest(folder / WEIGHTS) == _digest_of(due, shape.dtype):
            return
        said = list(_numbers(dict(read(folder / WEIGHTS)), due, shape.dtype))
        written = "not as it was written, though every number is right"
        yield from (f"{WEIGHTS}: {it}" for it in said or [written])
    except OSError as error:
        yield f"{WEIGHTS}: {error.strerror}"
    except UserError as error:
        yield str(error).removeprefix(f"{folder}/")


def _numbers(found: dict[str, Numbers], due: dict[str, Numbers], dtype: str) -> Iterator[str]:
    for name in [*due, *(name for name in found if name not in due)]:
        if name not in found or name not in due:
            yield f"{name} is {'missing' if name in due else 'of another model'}"
        elif found[name].shape != due[name].shape:
            yield f"{name} is {list(found[name].shape)} instead of {list(due[name].shape)}"
        elif said := _difference(found[name], _rounded(due[name], dtype)):
            yield f"{name}{said}"


def _difference(found: Numbers, due: Numbers) -> str:
    """The first number that is another, and how many are."""
    places = np.argwhere(found.view(np.uint32) != due.view(np.uint32))
    if not len(places):
        return ""
    at = tuple(int(index) for index in places[0])
    told = f"{list(at)} is {found[at]:g} instead of {due[at]:g}"
    return f"{told}; {len(places):,} of {due.size:,} numbers differ"


def _rounded(tensor: Numbers, dtype: str) -> Numbers:
    kind = NAMES[dtype]
    return loaded(stored(tensor, kind).tobytes(), kind).reshape(tensor.shape)


class _Digest:
    """A sink that only remembers the digest."""

    def __init__(self) -> None:
        self.sha = hashlib.sha256()

    def write(self, data: bytes, /) -> object:
        self.sha.update(data)
        return None


def _digest_of(due: dict[str, Any], dtype: str) -> str:
    digest = _Digest()
    write(digest, due, dtype)
    return digest.sha.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
