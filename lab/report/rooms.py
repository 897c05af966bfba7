"""What `kvlab show --rooms` says of a disaggregated arm: its rooms, one by one and in all.

One rule: whoever wrote late, whoever was hit, rooms whose pages differ and failed rooms come first,
whatever is left out. A column that says nothing of any room shown is left out too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report.grid import Fitted
from lab.report.pd import failed_of
from lab.rooms import (
    FAILED,
    PASSED,
    Seen,
    disaggregated,
    flash_bytes,
    free_while_written_s,
    involved,
    late_phrases,
    late_writes,
    layers_of,
    summary,
    times_in,
    worst_first,
)

if TYPE_CHECKING:
    from lab.records import ArmHistory
    from lab.store import Difference

NONE = "–"
ABOUT = ("room", "request", "prompt\ntokens", "chunks", "outcome", "why")
SIDES = {"prefill": PASSED, "decode": PASSED[:-1]}  # only the prefill side knows Transferring
SHORT = {
    "Bootstrapping": "boot-\nstrap-\nping",
    "WaitingForInput": "waiting\nfor\ninput",
    "Transferring": "trans-\nferring",
}
PAGES = ("page rows\ncompared", "differ", "first that differs")
KEPT = ("room", "outcome", *PAGES[:2])  # columns that are shown whatever they say
SILENT = frozenset({"–", "0", "0.000", "0.00"})
PART = "late writes"
LATE = "free while\nwritten, s"
LEGEND = """\
Seconds of the arm's clock in each state, with a + where the arm ended in it.
MB are 10^6 bytes, as 43 layers would send them. A page row is a page of one
layer of one pool, compared by its digest; the first that differs is told by
its pool, its place in the prompt, and its page at the sender -> at the
receiver.
"""


def rooms_view(history: ArmHistory, rooms: Sequence[Seen], limit: int) -> RenderableType:
    """An arm's rooms, the worst first and at most ``limit``, and all of them in one line."""
    if not disaggregated(history.settings, history.counters):
        return Text(f"{history.name}: not disaggregated (pd is off), so it has no rooms.\n")
    again = history.counters.get("client_retries", 0)
    head = Text(f"{history.name}: {summary_line(rooms, again)}\n", style="bold")
    head.append("".join(late_lines(history, limit)), style="red")
    parts = involved(late_writes(history.events))
    shown = worst_first(rooms, parts)[:limit]
    if not shown:
        return head
    hidden = len(rooms) - len(shown)
    more = f"{hidden} more; --limit N shows more\n" if hidden else ""
    return Group(head, rooms_table(history, shown, parts), Text(more + LEGEND, style="dim"))


def late_lines(history: ArmHistory, limit: int) -> list[str]:
    """Which room wrote into whose pages, a line each, and how many lines more there are."""
    found = late_phrases(late_writes(history.events))
    hidden = len(found) - limit
    lines = [f"late write: {said}\n" for said in found[:limit]]
    return [*lines, *([f"late writes of {hidden} more pairs of rooms\n"] if hidden > 0 else [])]


def rooms_table(
    history: ArmHistory, rooms: Sequence[Seen], parts: Mapping[int, str]
) -> RenderableType:
    """One row a room; ``parts`` is what rooms had to do with late writes."""
    states = [(side, state) for side, passed in SIDES.items() for state in passed]
    pools = list(dict.fromkeys(pool for it in rooms for pool in it.record.moved_bytes))
    heads = [
        *ABOUT,
        PART,
        *(f"{side}\n{SHORT.get(state, state.lower())}" for side, state in states),
        "total\nMB",
        *(pool.replace("_state", "\nstate") + "\nMB" for pool in pools),
        *PAGES,
        LATE,
    ]
    layers = layers_of(history)
    rows = [
        [
            *about_cells(it),
            parts.get(it.record.room, NONE),
            *(time_cell(it, side, state, history.virtual_s) for side, state in states),
            *mb_cells(it, pools, layers),
            *page_cells(it),
            seconds(free_while_written_s(it.record)),
        ]
        for it in rooms
    ]
    told = telling(heads, rows)
    shown = [heads[column] for column in told]
    first = [head for head in (*ABOUT[1:], PART, *PAGES, LATE) if head in shown]
    return Fitted(
        shown,
        [[row[column] for column in told] for row in rows],
        text=("outcome", "why", PART, PAGES[-1]),
        narrow=[*first, *(head for head in shown[1:] if head not in first)],
    )


def telling(heads: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> list[int]:
    """The columns that say something of some room; a request has its room's number as a rule."""
    columns = []
    for column, head in enumerate(heads):
        cells = {str(row[column]) for row in rows}
        same = head == "request" and all(str(row[0]) == str(row[column]) for row in rows)
        if head in KEPT or not (same or cells <= SILENT):
            columns.append(column)
    return columns


def about_cells(room: Seen) -> list[str | Text]:
    """Whose room it was, how much it had to carry and how it ended, red where it failed."""
    record = room.record
    name = f"{record.room} rank {record.rank}" if record.rank else str(record.room)
    outcome = Text(record.outcome, style="red" if record.outcome == FAILED else "")
    numbers = (record.request, record.prompt, record.chunks)
    return [name, *map(str, numbers), outcome, record.why or NONE]


def time_cell(room: Seen, side: str, state: str, until: float) -> str:
    """Seconds that a side of the room was in a state."""
    entered = {"prefill": room.record.prefill, "decode": room.record.decode}[side]
    took, left = times_in(entered, until).get(state, (None, True))
    return seconds(took) + ("" if left else "+")


def mb_cells(room: Seen, pools: Sequence[str], layers: Mapping[str, int]) -> list[str]:
    """Megabytes in all, then of each pool."""
    sent = flash_bytes(room.record, layers)
    return [megabytes(room.record.flash_bytes), *(megabytes(sent.get(pool, 0)) for pool in pools)]


def page_cells(room: Seen) -> list[str | Text]:
    """Page rows compared and different, and the first that differs."""
    pages = room.pages
    style = "bold red" if pages.different else ""
    first = NONE if pages.first is None else difference(pages.first)
    different = str(pages.different) if pages.compared else NONE
    return [str(pages.compared), Text(different, style=style), Text(first, style=style)]


def difference(found: Difference) -> str:
    """``index_k 3, 120 -> 87``."""
    source = NONE if found.src_page is None else found.src_page
    return f"{found.pool} {found.position}, {source} -> {found.dst_page}"


def seconds(value: float | None) -> str:
    """Milliseconds' digits; a dash for what is not known."""
    return NONE if value is None else f"{value:.3f}"


def megabytes(value: float) -> str:
    """10^6 bytes."""
    return f"{value / 1e6:.2f}"


def summary_line(rooms: Sequence[Seen], again: int = 0) -> str:
    """``rooms 240: 168 succeeded, 72 failed (timed out in WaitingForInput 72), 40 asked again``...

    ``again`` is how many tries failed and were asked again.
    """
    told = summary(rooms)
    if not told["rooms"]:
        return "no room was opened"
    ends = [
        f"{told['succeeded']} succeeded",
        failed_of(sum(told["failed"].values()), told["failed"]),
        *([f"{told['without_end']} without an end"] if told["without_end"] else []),
        *([f"{again} asked again"] if again else []),
    ]
    where = f" (in rooms: {told['rooms_different']})" if told["rooms_different"] else ""
    return (
        f"rooms {told['rooms']}: {', '.join(ends)}; page rows compared {told['pages_compared']:,}, "
        f"different {told['pages_different']:,}{where}; {megabytes(told['flash_bytes'])} MB as 43 "
        f"layers send them, {megabytes(told['moved_bytes'])} MB moved"
    )


def rooms_document(history: ArmHistory, rooms: Sequence[Seen], limit: int) -> dict[str, Any]:
    """The same for `--json`: durations in seconds, and whether a state was left."""
    layers, late = layers_of(history), late_writes(history.events)
    shown = worst_first(rooms, involved(late))[:limit]
    return {
        "name": history.name,
        "disaggregated": disaggregated(history.settings, history.counters),
        "summary": {
            **summary(rooms),
            "asked_again": history.counters.get("client_retries", 0),
            "late_writes": [asdict(it) for it in late],
        },
        "rooms": [room_document(it, layers, history.virtual_s) for it in shown],
    }


def room_document(room: Seen, layers: Mapping[str, int], until: float) -> dict[str, Any]:
    """One room: its record, its times in each state, bytes as 43 layers send them, its pages."""
    record, pages = room
    sides = {"prefill": record.prefill, "decode": record.decode}
    return {
        **asdict(record),
        "in_state_s": {
            side: {s: took for s, (took, _) in times_in(entered, until).items()}
            for side, entered in sides.items()
        },
        "flash_bytes_by_pool": {p: round(n) for p, n in flash_bytes(record, layers).items()},
        "pages_compared": pages.compared,
        "pages_different": pages.different,
        "first_difference": None if pages.first is None else pages.first._asdict(),
    }
