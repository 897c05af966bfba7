"""What `kvlab show --rooms` says of a disaggregated arm: its rooms, one by one and in all.

One rule: failed rooms and rooms whose pages differ come first, whatever is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report import words
from lab.report.grid import Fitted
from lab.rooms import (
    FAILED,
    PASSED,
    Seen,
    disaggregated,
    flash_bytes,
    free_while_written_s,
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
SHORT = {"Bootstrapping": "boot-\nstrapping", "WaitingForInput": "waiting\nfor input"}
PAGES = ("page rows\ncompared", "differ", "first that differs")
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
    if not disaggregated(history):
        return Text(f"{history.name}: not disaggregated (pd is off), so it has no rooms.\n")
    head = Text(f"{history.name}: {summary_line(rooms)}\n", style="bold")
    head.append("".join(late_lines(history, limit)), style="red")
    shown = worst_first(rooms)[:limit]
    if not shown:
        return head
    hidden = len(rooms) - len(shown)
    more = f"{hidden} more; --limit N shows more\n" if hidden else ""
    return Group(head, rooms_table(history, shown), Text(more + LEGEND, style="dim"))


def late_lines(history: ArmHistory, limit: int) -> list[str]:
    """Which room wrote into whose pages, a line each, and how many lines more there are."""
    found = late_writes(history.events)
    hidden = len(found) - limit
    lines = [f"late write: {said}\n" for said in found[:limit]]
    return [*lines, *([f"late writes of {hidden} more pairs of rooms\n"] if hidden > 0 else [])]


def rooms_table(history: ArmHistory, rooms: Sequence[Seen]) -> Fitted:
    """One row a room; seconds that its pages were free while they were written, where any were."""
    states = [(side, state) for side, passed in SIDES.items() for state in passed]
    pools = list(dict.fromkeys(pool for it in rooms for pool in it.record.moved_bytes))
    late = [LATE] if any(free_while_written_s(it.record) for it in rooms) else []
    heads = [
        *ABOUT,
        *(f"{side}\n{SHORT.get(state, state.lower())}" for side, state in states),
        "total\nMB",
        *(f"{pool}\nMB" for pool in pools),
        *PAGES,
        *late,
    ]
    layers = layers_of(history)
    rows = [
        [
            *about_cells(it),
            *(time_cell(it, side, state, history.virtual_s) for side, state in states),
            *mb_cells(it, pools, layers),
            *page_cells(it),
            *([seconds(free_while_written_s(it.record))] if late else []),
        ]
        for it in rooms
    ]
    return Fitted(heads, rows, text=("outcome", "why", PAGES[-1]))


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


def summary_line(rooms: Sequence[Seen]) -> str:
    """``240 rooms: 168 succeeded, 72 failed (waiting timeout 72); 9,600 page rows ...``."""
    told = summary(rooms)
    if not told["rooms"]:
        return "no room was opened"
    failed = told["failed"]
    ends = [
        f"{told['succeeded']} succeeded",
        f"{sum(failed.values())} failed" + (f" ({words.tally(failed)})" if failed else ""),
        *([f"{told['without_end']} without an end"] if told["without_end"] else []),
    ]
    where = f" (in rooms: {told['rooms_different']})" if told["rooms_different"] else ""
    return (
        f"rooms {told['rooms']}: {', '.join(ends)}; page rows compared {told['pages_compared']:,}, "
        f"different {told['pages_different']:,}{where}; {megabytes(told['flash_bytes'])} MB as 43 "
        f"layers send them, {megabytes(told['moved_bytes'])} MB moved"
    )


def rooms_document(history: ArmHistory, rooms: Sequence[Seen], limit: int) -> dict[str, Any]:
    """The same for `--json`: durations in seconds, and whether a state was left."""
    layers = layers_of(history)
    return {
        "arm": history.name,
        "disaggregated": disaggregated(history),
        "summary": {**summary(rooms), "late_writes": late_writes(history.events)},
        "rooms": [
            room_document(it, layers, history.virtual_s) for it in worst_first(rooms)[:limit]
        ],
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
