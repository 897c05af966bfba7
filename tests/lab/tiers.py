"""An arm with copies between tiers and a stated geometry, for the tests of what shows them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from lab.records import ArmHistory
from tests.lab.samples import history

LIVE = "index_k:load:per_layer_mla:layer_first"
DORMANT = "index_k:load:token_granular:layer_first"


def row(tier: str, item_bytes: int, agrees: bool = True) -> dict[str, Any]:
    """A geometry row of index-K as the server states it."""
    return {
        "pool": "index_k",
        "tier": tier,
        "order": "layer_first",
        "page_tokens": 256,
        "entries": 64,
        "item_bytes": item_bytes,
        "layers": 1,
        "pages": 1665 if tier == "host" else 833,
        "agrees": agrees,
    }


def tiered(name: str, geometry: list[dict[str, Any]]) -> ArmHistory:
    """An arm that restored 340 pages of index-K by page rows, and none by tokens."""
    made = history(name, sessions=2)
    paths = {f"path:{LIVE}": 85, f"path_rows:{LIVE}": 340}
    dormant = {f"path:{DORMANT}": 0, f"path_rows:{DORMANT}": 0}
    info = {"index_k": "bf16", "geometry": geometry}
    events = [(0, "server_info", {"info": json.dumps(info)}), *made.events]
    return replace(made, counters={**made.counters, **paths, **dormant}, events=events)
