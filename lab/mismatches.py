"""Pools that are not the same in both tiers, in words. One rule: the two numbers stand together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ALIKE = {"entries": "entries a page", "layers": "layers", "page_tokens": "tokens a page"}


def mismatches(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """One phrase for each geometry row that does not agree with the device's layout.

    ``index_k: 8,448 bytes a row on the host, 16,384 on the device``
    """
    device = {row["pool"]: row for row in rows if row["tier"] == "device"}
    return tuple(
        f"{row['pool']}: {_difference(row, device.get(row['pool']))}"
        for row in rows
        if not row["agrees"]
    )


def _difference(row: Mapping[str, Any], device: Mapping[str, Any] | None) -> str:
    said = f"{row['item_bytes']:,} bytes a row on the {row['tier']}"
    if device is None or row is device:
        return f"{said}, not what its layout says"
    if row["item_bytes"] != device["item_bytes"]:
        return f"{said}, {device['item_bytes']:,} on the device"
    for key, what in ALIKE.items():
        if row[key] != device[key]:
            return f"{row[key]:,} {what} on the {row['tier']}, {device[key]:,} on the device"
    return f"{said} and on the device, in another layout"
