"""Rooms of a disaggregated arm, read from what it left. One rule: it reads, and concludes nothing.

Times are seconds of the arm's clock. A room's latency is the decode side's: from WaitingForInput,
when the prefill is told of the pages, to the room's end.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.disagg.rooms import LEGAL, KVPoll
from engine.pools.layouts import FLASH_LAYERS
from lab.copies import stored_geometry
from lab.records import LateWrite

if TYPE_CHECKING:
    from engine.disagg.records import RoomRecord
    from lab.records import ArmHistory
    from lab.store import RoomPages

LATE_WRITE = "late_write_into_owned_page"
GROUPED = ("writer_room", "victim_room", "victim", "piece", "pools")
WAITING = KVPoll.WAITING_FOR_INPUT.title
FAILED, SUCCESS = KVPoll.FAILED.title, KVPoll.SUCCESS.title
PASSED = tuple(state.title for state in KVPoll if LEGAL[state])  # states that a room leaves again
SLOTTED = "c128_state"  # the pool that is addressed by request slot
FAILED_ROOM = re.compile(r"\broom \d+ failed\b|\broom_failed\b")


class Seen(NamedTuple):
    """A room, what became of its pages, and whose it was, where that is known."""

    record: RoomRecord
    pages: RoomPages
    session: int | None = None
    turn: int | None = None


def disaggregated(settings: Mapping[str, Any], counters: Mapping[str, int]) -> bool:
    """Whether an arm had rooms, or was set to have some."""
    return bool(settings.get("pd") or counters.get("rooms"))


def names_a_room(error: str) -> bool:
    """Whether a client's error is that of a room that failed."""
    return bool(FAILED_ROOM.search(error))


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


def worst_first(rooms: Iterable[Seen], involved: Mapping[int, str]) -> list[Seen]:
    """Rooms with a part in a late write, then those whose pages differ, those that failed, those
    without an end, and the others.
    """
    order = {FAILED: 2, SUCCESS: 4}

    def rank(seen: Seen) -> int:
        if seen.record.room in involved:
            return 0
        return 1 if seen.pages.different else order.get(seen.record.outcome, 3)

    return sorted(rooms, key=rank)


def involved(found: Iterable[LateWrite]) -> dict[int, str]:
    """Rooms with a part in a late write: ``wrote late into 3``, ``hit by 8``."""
    told: defaultdict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for it in found:
        told[it.writer_room]["wrote late into"].append(str(it.victim_room or it.victim))
        if it.victim_room:
            told[it.victim_room]["hit by"].append(str(it.writer_room))
    return {
        room: "; ".join(f"{how} {', '.join(dict.fromkeys(who))}" for how, who in parts.items())
        for room, parts in told.items()
    }


def summary(rooms: Sequence[Seen], layers: Mapping[str, int]) -> dict[str, Any]:
    """The rooms of an arm in numbers.

    Ranks share their rooms: a room is counted once, its pages and bytes on every rank.
    """
    every = [it.record for it in rooms]
    told = ends(every)
    return {
        "rooms": told.rooms,
        "succeeded": told.succeeded,
        "failed": failures(every),
        "without_end": told.without_end,
        "pages_compared": sum(it.pages.compared for it in rooms),
        "pages_different": sum(it.pages.different for it in rooms),
        "rooms_different": len({it.record.room for it in rooms if it.pages.different}),
        "moved_bytes": sum(sum(it.record.moved_bytes.values()) for it in rooms),
        "flash_bytes": sum(it.record.flash_bytes for it in rooms),
        "flash_bytes_by_pool": {pool: round(n) for pool, n in by_pool(every, layers).items()},
    }


def by_pool(records: Iterable[RoomRecord], layers: Mapping[str, int]) -> dict[str, float]:
    """Bytes as 43 layers send them, of all ranks, by pool."""
    found: defaultdict[str, float] = defaultdict(float)
    for record in records:
        for pool, n in flash_bytes(record, layers).items():
            found[pool] += n
    return dict(found)


class Ends(NamedTuple):
    """How an arm's rooms ended."""

    rooms: int
    succeeded: int
    failed: int
    without_end: int


def firsts(records: Iterable[RoomRecord]) -> list[RoomRecord]:
    """Each room once, as the first rank saw it: ranks share their rooms."""
    return [record for record in records if record.rank == 0]


def ends(records: Iterable[RoomRecord]) -> Ends:
    """Every room that either side opened, counted once."""
    once = firsts(records)
    outcomes = Counter(record.outcome for record in once)
    well, ill = outcomes[SUCCESS], outcomes[FAILED]
    return Ends(len(once), well, ill, len(once) - well - ill)


def counted(history: ArmHistory) -> dict[str, int]:
    """The arm's counters, with its rooms counted from their records where it has them.

    The decode side counts what it opens, which is not all once ranks hang.
    """
    if not history.rooms:
        return history.counters
    told = ends(history.rooms)
    stuck = {"rooms_without_end": told.without_end} if told.without_end else {}
    known = {"rooms": told.rooms, "rooms_succeeded": told.succeeded, "rooms_failed": told.failed}
    return {**history.counters, **known, **stuck}


def failures(records: Iterable[RoomRecord]) -> dict[str, int]:
    """What rooms failed of and how many of each, the most first."""
    ill = (it.why for it in firsts(records) if it.outcome == FAILED)
    return dict(Counter(map(reason, ill)).most_common())


def reason(why: str) -> str:
    """What a room failed of, without the numbers that are this room's alone."""
    return re.sub(r"\d[\d.,]*", "N", why) or "unknown"


def late_writes(events: Iterable[tuple[int, str, Mapping[str, Any]]]) -> list[LateWrite]:
    """One for each writer, victim and set of pools, in the order in which they were seen."""
    hits: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for _, kind, fields in events:
        if kind == "violation" and fields.get("name") == LATE_WRITE:
            who = (fields.get(key) for key in GROUPED)
            hits.setdefault(tuple(who), []).append(fields)
    return [_late_write(found) for found in hits.values()]


def _late_write(found: Sequence[Mapping[str, Any]]) -> LateWrite:
    first = found[0]
    return LateWrite(
        writer_room=int(first.get("writer_room", 0)),
        victim_room=int(first.get("victim_room", 0)),
        victim=str(first.get("victim", "?")),
        piece=str(first.get("piece", "?")),
        unit=_unit(first),
        first=int(first.get("page", 0)),
        pages=sum(int(fields.get("n", 1)) for fields in found),
        rows=sum(int(fields.get("rows", 0)) for fields in found),
        pools=str(first.get("pools", "")),
    )


def _unit(fields: Mapping[str, Any]) -> str:
    return "request slot" if fields.get("pools") == SLOTTED else "page"


def late_phrases(found: Iterable[LateWrite]) -> list[str]:
    """``room 8 (session 5, turn 2) into room 3 (session 4, turn 0): page 70``, and so on: one for
    each writer and victim.
    """
    pairs: dict[str, list[str]] = {}
    for it in found:
        victim = f"room {it.victim_room} ({_victim(it)})" if it.victim_room else it.victim
        pairs.setdefault(f"{writer(it)} into {victim}", []).append(where(it))
    return [f"{who}: {', '.join(places)}" for who, places in pairs.items()]


def writer(it: LateWrite) -> str:
    """``room 72 (session 5, turn 2)``, as far as that is known."""
    turn = f" (session {it.writer_session}, turn {it.writer_turn})"
    return f"room {it.writer_room}{turn if it.writer_session is not None else ''}"


def _victim(it: LateWrite) -> str:
    known = it.victim_session is not None
    return f"session {it.victim_session}, turn {it.victim_turn}" if known else it.victim


def where(it: LateWrite) -> str:
    """``page 70 and 2 more (600 rows of c4, index_k, c128)``."""
    more = f" and {it.pages - 1} more" if it.pages > 1 else ""
    return f"{it.unit} {it.first}{more} ({it.rows:,} rows of {it.pools or it.piece})"
