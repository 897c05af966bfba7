"""Tensors in the safetensors format: a length, a JSON header, the bytes. One rule: a file is its
tensors and nothing else, so equal tensors make equal files.

bfloat16 is unknown to NumPy: here it is the upper half of a float32, rounded to nearest, even.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lab.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Tensors = Mapping[str, NDArray[np.float32]]

NAMES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}
BYTES = {"F32": 4, "F16": 2, "BF16": 2}
HEADER_AT = 8  # bytes of the header's length, before it


class Sink(Protocol):
    """Whatever takes bytes: a file, or a digest of one."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes."""
        ...


def write(file: Sink, tensors: Tensors, dtype: str = "float32") -> None:
    """Write all tensors as ``dtype``, one of ``NAMES``."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    kind, at = NAMES[dtype], 0
    for name, tensor in tensors.items():
        end = at + tensor.size * BYTES[kind]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(HEADER_AT, "little") + text)
    for tensor in tensors.values():
        file.write(stored(tensor, kind).tobytes())


def stored(tensor: NDArray[np.float32], kind: str) -> NDArray[Any]:
    """The numbers as the format keeps them: F32, F16, or the 16 bits of BF16."""
    if kind == "BF16":
        bits = np.ascontiguousarray(tensor, "<f4").view("<u4")
        rounded: NDArray[Any] = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        return rounded.astype("<u2")
    return np.ascontiguousarray(tensor, "<f4" if kind == "F32" else "<f2")


def loaded(raw: bytes, kind: str) -> NDArray[np.float32]:
    """float32 of what ``stored`` made, flat."""
    if kind == "BF16":
        return (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
    return np.frombuffer(raw, "<f4" if kind == "F32" else "<f2").astype(np.float32)


def read(path: Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Each tensor of a file in order of its header; raises ``UserError`` where it is no such file,
    and where a tensor's place does not fit its shape.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(HEADER_AT), "little")
        begin, end = HEADER_AT + size, path.stat().st_size
        try:
            header = json.loads(file.read(min(size, end)))
            header.pop("__metadata__", None)
            places = {name: _place(it) for name, it in header.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{path}: no safetensors file") from None
        for name, (kind, shape, at, to) in places.items():
            if to - at != math.prod(shape) * BYTES[kind] or begin + to > end:
                raise UserError(f"{path}: {name} is cut short")
            file.seek(begin + at)
            yield name, loaded(file.read(to - at), kind).reshape(shape)


def _place(entry: Any) -> tuple[str, tuple[int, ...], int, int]:
    kind, (at, to) = entry["dtype"], entry["data_offsets"]
    if kind not in BYTES or not 0 <= at <= to:
        raise ValueError(kind)
    return kind, tuple(map(int, entry["shape"])), int(at), int(to)
