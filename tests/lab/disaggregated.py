"""An arm with rooms, made up, for the tests of what stores and shows them.

Sizes are those of the constructed model: c4, index-K and c128 have one layer, swa four.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from engine.disagg.records import RoomDigest, RoomRecord
from engine.pools.layouts import FLASH_LAYERS
from lab.records import ArmHistory
from tests.lab.samples import history

BYTES = {"c4": 37_440, "index_k": 16_384, "c128": 1_728}
WAITING_TIMEOUT, BOOTSTRAP_TIMEOUT, CLIENT_TIMEOUT = 4.0, 8.0, 60.0
LATE = "late_write_into_owned_page"
TIMED_OUT = "timed out in WaitingForInput"


def room(number: int, *, began_s: float = 0.0, took_s: float = 0.5, why: str = "") -> RoomRecord:
    """A room of 600 tokens in one chunk that took ``took_s`` from WaitingForInput on."""
    end, pages = "Failed" if why else "Success", 3
    return RoomRecord(
        room=number,
        request=number + 1000,
        rank=0,
        prompt=600,
        prefill={
            "Bootstrapping": began_s,
            "WaitingForInput": began_s + 0.01,
            "Transferring": began_s + 0.2,
            end: began_s + took_s,
        },
        decode={
            "Bootstrapping": began_s,
            "WaitingForInput": began_s + 0.005,
            end: began_s + 0.005 + took_s,
        },
        chunks=1,
        moved_bytes={pool: pages * size for pool, size in BYTES.items()},
        flash_bytes=sum(FLASH_LAYERS[pool] * pages * size for pool, size in BYTES.items()),
        outcome=end,
        why=why,
        released_s=began_s + took_s if why else None,
        drained_s=began_s + took_s + 0.3 if why else None,
    )


def digests(made: RoomRecord, differs: int | None = None) -> list[RoomDigest]:
    """Both sides of its three pages in each pool; index-K's page ``differs`` arrives changed."""
    found = [
        RoomDigest(made.room, "post_store", pool, 0, at, 100 + at, made.room * 1000 + at)
        for pool in BYTES
        for at in range(3)
    ]
    if made.outcome != "Success":
        return found
    return found + [
        it._replace(
            stage="post_transfer",
            page=it.page + 200,
            digest=it.digest ^ (it.pool == "index_k" and it.position == differs),
        )
        for it in found
    ]


def late_write(
    writer: int, victim: int, page: int, *, pools: str = "c4, index_k, c128", **changed: int | str
) -> tuple[int, str, dict[str, int | str]]:
    """The event of bytes of ``writer`` that landed in a page of ``victim``."""
    who = {"writer_room": writer, "victim": f"request {victim + 1000}", "victim_room": victim}
    what = {"piece": "kv", "pools": pools, "page": page, "rows": 256}
    return 5_000, "violation", {"name": LATE, "n": 1, **who, **what, **changed}


def retry(session: int, took_s: float, error: str, *, turn: int = 0) -> tuple[int, str, Any]:
    """The event of a try that failed after ``took_s`` and was asked again."""
    told = {"session": session, "turn": turn, "tries": 1, "status": "transport_error"}
    ended = {"error": error, "sent_ns": 1_000, "done_ns": 1_000 + round(took_s * 1e9)}
    return 5_000, "client_retry", {**told, **ended}


def disaggregated(name: str, *, rooms: int = 6) -> ArmHistory:
    """An arm of which room 2 timed out, and of room 4 a page arrived changed."""
    made = history(name, sessions=rooms, turns=1)
    found = [
        room(n, began_s=n, took_s=4.0, why=TIMED_OUT) if n == 2 else room(n, began_s=n)
        for n in range(1, rooms + 1)
    ]
    layers = {"c4": 1, "index_k": 1, "c128": 1}
    geometry = [{"pool": pool, "tier": "device", "layers": n} for pool, n in layers.items()]
    info = (0, "server_info", {"info": json.dumps({"geometry": geometry})})
    counters = {
        "rooms": rooms,
        "rooms_succeeded": rooms - 1,
        "rooms_failed": 1,
        "waiting_timeouts": 1,
        "bootstrap_timeouts": 0,
    }
    timeouts = {"waiting_timeout": WAITING_TIMEOUT, "bootstrap_timeout": BOOTSTRAP_TIMEOUT}
    return replace(
        made,
        settings={**made.settings, "pd": True, **timeouts},
        counters={**made.counters, **counters},
        events=[info, *made.events],
        timeout_s=CLIENT_TIMEOUT,
        rooms=found,
        digests=[it for made in found for it in digests(made, 1 if made.room == 4 else None)],
    )
