"""Rooms of a disaggregated arm, read from what it left. One rule: it reads, and concludes nothing.

Times are seconds of the arm's clock. A room's latency is the decode side's: from WaitingForInput,
when the prefill is told of the pages, to the room's end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.disagg.rooms import LEGAL, KVPoll
from engine.pools.layouts import FLASH_LAYERS
from lab.copies import stored_geometry

if TYPE_CHECKING:
    from engine.disagg.records import RoomRecord
    from lab.records import ArmHistory
    from lab.store import RoomPages

LATE_WRITE = "late_write_into_owned_page"
WAITING = KVPoll.WAITING_FOR_INPUT.title
FAILED, SUCCESS = KVPoll.FAILED.title, KVPoll.SUCCESS.title
PASSED = tuple(state.title for state in KVPoll if LEGAL[state])  # states that a room leaves again


class Seen(NamedTuple):
    """A room, and what became of its pages."""

    record: RoomRecord
    pages: RoomPages


def disaggregated(history: ArmHistory) -> bool:
    """Whether the arm had rooms, or was set to have some."""
    return bool(history.rooms or history.settings.get("pd"))


def times_in(entered: Mapping[str, float], until: float) -> dict[str, tuple[float, bool]]:
    """Seconds in each state that was entered and can be left, and whether it was left.

    ``until`` is the end of the arm, for a state that was not.
    """
    order = sorted(entered.items(), key=lambda pair: pair[1])
    following = [at for _, at in order[1:]]
    found = {state: (end - at, True) for (state, at), end in zip(order, following, strict=False)}
    if order and order[-1][0] in PASSED:
        state, at = order[-1]
        found[state] = (max(0.0, until - at), False)
    return found


def latency_s(record: RoomRecord) -> float | None:
    """From WaitingForInput to the end, on the decode side; None if the room has either not."""
    end = record.decode.get(SUCCESS, record.decode.get(FAILED))
    began = record.decode.get(WAITING)
    return None if end is None or began is None else end - began


def free_while_written_s(record: RoomRecord) -> float | None:
    """How long the room's pages were free, or somebody else's, while its writer still wrote."""
    if record.released_s is None or record.drained_s is None:
        return None
    return max(0.0, record.drained_s - record.released_s)


def flash_bytes(record: RoomRecord, layers: Mapping[str, int]) -> dict[str, float]:
    """What the moved bytes of each pool stand for in the 43-layer model; ``layers`` are ours."""
    return {pool: moved * _stands_for(pool, layers) for pool, moved in record.moved_bytes.items()}


def _stands_for(pool: str, layers: Mapping[str, int]) -> float:
    """Layers of the 43-layer model for each of ours; 1 where either has none told."""
    ours = layers.get(pool, 0)
    return FLASH_LAYERS.get(pool, ours) / ours if ours else 1.0


def layers_of(history: ArmHistory) -> dict[str, int]:
    """Our layers of each pool, as the server stated them."""
    return {str(row["pool"]): int(row["layers"]) for row in stored_geometry(history)}


def worst_first(rooms: Iterable[Seen]) -> list[Seen]:
    """Rooms whose pages differ, then those that failed, then those without an end, then others."""
    order = {FAILED: 1, SUCCESS: 3}
    return sorted(
        rooms, key=lambda it: 0 if it.pages.different else order.get(it.record.outcome, 2)
    )


def summary(rooms: Sequence[Seen]) -> dict[str, Any]:
    """The rooms of an arm in numbers; ``failed`` by reason.

    Ranks share their rooms: a room is counted once, its pages and bytes on every rank.
    """
    firsts = [it.record for it in rooms if it.record.rank == 0]
    outcomes = Counter(record.outcome for record in firsts)
    failed = Counter(reason(record.why) for record in firsts if record.outcome == FAILED)
    return {
        "rooms": len(firsts),
        "succeeded": outcomes[SUCCESS],
        "failed": dict(failed.most_common()),
        "without_end": len(firsts) - outcomes[SUCCESS] - outcomes[FAILED],
        "pages_compared": sum(it.pages.compared for it in rooms),
        "pages_different": sum(it.pages.different for it in rooms),
        "rooms_different": len({it.record.room for it in rooms if it.pages.different}),
        "moved_bytes": sum(sum(it.record.moved_bytes.values()) for it in rooms),
        "flash_bytes": sum(it.record.flash_bytes for it in rooms),
    }


def reason(why: str) -> str:
    """What a room failed of, without the numbers that are this room's alone."""
    return re.sub(r"\d[\d.,]*", "N", why) or "unknown"


def late_writes(events: Iterable[tuple[int, str, Mapping[str, Any]]]) -> list[str]:
    """One phrase for each writer and victim, in the order in which they were seen."""
    pairs: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for _, kind, fields in events:
        if kind == "violation" and fields.get("name") == LATE_WRITE:
            who = (str(fields.get(key, "?")) for key in ("writer_room", "victim_room", "victim"))
            pairs.setdefault(tuple(who), []).append(fields)
    return [
        f"room {writer} into room {room} ({victim}), {_where(found)}"
        for (writer, room, victim), found in pairs.items()
    ]


def _where(found: Sequence[Mapping[str, Any]]) -> str:
    """``page 12, 640 rows``: the first page, and the rows lost in all."""
    rows = sum(int(fields.get("rows", 0)) for fields in found)
    return f"page {found[0].get('page', '?')}, {rows:,} rows"
