"""Pools that are not the same in every tier, in words. One rule: two numbers stand together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NONE = "–"  # a server may state less than ours does
WHERE = {"decode": "decode side"}
ALIKE = {"entries": "entries a page", "layers": "layers", "page_tokens": "tokens a page"}


def mismatches(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """One phrase for each geometry row that does not agree with the device's layout.

    ``index_k: 8,448 bytes a row on the host, 16,384 on the device``; of a pair, the device is the
    prefill side's.
    """
    device = {row.get("pool"): row for row in rows if row.get("tier") == "device"}
    return tuple(
        f"{row.get('pool', NONE)}: {_difference(row, device.get(row.get('pool')))}"
        for row in rows
        if not row.get("agrees", True)
    )


def _difference(row: Mapping[str, Any], device: Mapping[str, Any] | None) -> str:
    tier = row.get("tier", NONE)
    here, there = WHERE.get(tier, tier), "prefill side" if tier in WHERE else "device"
    said = f"{_number(row, 'item_bytes')} bytes a row on the {here}"
    if device is None or row is device:
        return f"{said}, not what its layout says"
    if row.get("item_bytes") != device.get("item_bytes"):
        return f"{said}, {_number(device, 'item_bytes')} on the {there}"
    for key, what in ALIKE.items():
        if row.get(key) != device.get(key):
            mine, others = _number(row, key), _number(device, key)
            return f"{mine} {what} on the {here}, {others} on the {there}"
    if tier in WHERE:  # no difference between the sides: it is the row's own
        return f"{said}, not what its layout says"
    return f"{said} and on the {there}, in another layout"


def _number(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key, NONE)
    return f"{value:,}" if isinstance(value, int) else str(value)
