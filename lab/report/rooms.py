"""What `kvlab show --rooms` says of a disaggregated arm: its rooms, one by one and in all.

One rule: whoever wrote late, whoever was hit, rooms whose pages differ and failed rooms come first,
whatever is left out. All of a room stands in one row of one table, 100 columns wide at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.joins import joined
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
    layers_of,
    summary,
    times_in,
    worst_first,
)

if TYPE_CHECKING:
    from lab.records import ArmHistory, LateWrite
    from lab.store import Difference

NONE = "–"
SIDES = {"prefill": PASSED, "decode": PASSED[:-1]}  # only the prefill side knows Transferring
SHORT = {"Bootstrapping": "boot", "WaitingForInput": "wait", "Transferring": "send"}
HEAD = {"prefill": "pre-\nfill", "decode": "de-\ncode"}
ROOM, TURN, QUEUE, PROMPT = "room", "ses-\nsion/\nturn", "queue", "prompt\ntokens"
TOTAL, PAGES, END = "MB", "pages\ndiffer", "what became of it"
KEPT = (ROOM, TURN, QUEUE, PAGES, END)  # columns that are shown whatever they say
SILENT = frozenset({"–", "0.000", "0.00"})
LEGEND = """\
session/turn  whose room it was; – where its client never heard a number of it
queue         its transfer queue: room % queue_size, one job at a time
boot          seconds of the arm's clock in Bootstrapping; wait: in WaitingForInput;
              send: in Transferring; + where the arm ended in that state
MB            10^6 bytes, as 43 layers would send them
pages differ  page rows that arrived unlike what was sent/those compared; a page row
              is a page of one layer of one pool. "first" tells the pool, the page's
              place in the prompt, and its number at the sender -> at the receiver
free while    from when the room's pages were given back to its last write: for so
written       long they were free, or another's, and still written
r1            the room as rank 1 had it
"""


def rooms_view(
    history: ArmHistory, rooms: Sequence[Seen], limit: int, session: int | None = None
) -> RenderableType:
    """An arm's rooms, the worst first and at most ``limit``, and all of them in one line.

    With a ``session`` only its rooms, and the late writes that they have a part in.
    """
    if not disaggregated(history.settings, history.counters):
        return Text(f"{history.name}: not disaggregated (pd is off), so it has no rooms.\n")
    again = history.counters.get("client_retries", 0)
    layers = layers_of(history)
    head = Text(f"{history.name}: {summary_line(rooms, again, layers)}\n", style="bold")
    late = late_of(joined(history), session)
    head.append("".join(late_lines(late, limit)), style="red")
    parts = involved(late)
    mine = of_session(rooms, session)
    shown = worst_first(mine, parts)[:limit]
    if rooms and not mine:
        head.append(f"no room is known to be session {session}'s\n", style="not bold")
    if not shown:
        return head
    hidden = len(mine) - len(shown)
    more = f"{hidden} more; --limit N shows more\n" if hidden else ""
    return Group(head, rooms_table(history, shown, parts), Text(more, style="dim"))


def legend() -> Text:
    """What the columns mean, once for all arms."""
    return Text(LEGEND, style="dim")


def of_session(rooms: Sequence[Seen], session: int | None) -> list[Seen]:
    """A session's rooms; all of them without a session."""
    return [it for it in rooms if session in (None, it.session)]


def late_of(late: Sequence[LateWrite], session: int | None) -> list[LateWrite]:
    """Those that a session's rooms have a part in; all of them without a session."""
    return [it for it in late if session in (None, it.writer_session, it.victim_session)]


def late_lines(late: Sequence[LateWrite], limit: int) -> list[str]:
    """Which room wrote into whose pages, a line each, and how many lines more there are."""
    found = late_phrases(late)
    hidden = len(found) - limit
    lines = [f"late write: {said}\n" for said in found[:limit]]
    return [*lines, *([f"late writes of {hidden} more pairs of rooms\n"] if hidden > 0 else [])]


def rooms_table(
    history: ArmHistory, rooms: Sequence[Seen], parts: Mapping[int, str]
) -> RenderableType:
    """One row a room; ``parts`` is what rooms had to do with late writes."""
    states = [(side, state) for side, passed in SIDES.items() for state in passed]
    times = [f"{HEAD[side]}\n{SHORT[state]}" for side, state in states]
    heads = [ROOM, TURN, QUEUE, PROMPT, *times, TOTAL, PAGES, END]
    rows = [
        [
            *about_cells(it, history.settings.get("queue_size")),
            *(time_cell(it, side, state, history.virtual_s) for side, state in states),
            megabytes(it.record.flash_bytes),
            pages_cell(it),
            end_cell(it, parts.get(it.record.room, "")),
        ]
        for it in rooms
    ]
    told = [
        column
        for column, head in enumerate(heads)
        if head in KEPT or not {str(row[column]) for row in rows} <= SILENT
    ]
    shown = [heads[column] for column in told]
    first = (TURN, QUEUE, END)
    return Fitted(
        shown,
        [[row[column] for column in told] for row in rows],
        text=(END,),
        narrow=[*first, *(head for head in shown[1:] if head not in first)],
    )


def about_cells(room: Seen, queues: int | None) -> list[str | Text]:
    """Whose room it was, which queue took it, and how long its prompt was."""
    record = room.record
    name = f"{record.room} r{record.rank}" if record.rank else str(record.room)
    turn = NONE if room.session is None else f"{room.session}/{room.turn}"
    at = queue(room, queues)
    return [name, turn, NONE if at is None else str(at), str(record.prompt)]


def queue(room: Seen, queues: int | None) -> int | None:
    """The transfer queue that a room's jobs went through; None where nobody said how many."""
    return room.record.room % queues if queues else None


def end_cell(room: Seen, part: str) -> Text:
    """How a room ended and why, its part in late writes, what differs in its pages, and how long
    they were free while they were written.
    """
    record, late = room.record, free_while_written_s(room.record)
    failed = record.outcome == FAILED
    end = f"{record.outcome}: {record.why}" if record.why else record.outcome
    first = room.pages.first
    said = [
        Text(end, style="red" if failed else ""),
        *([Text(part, style="red")] if part else []),
        *([Text(f"first {difference(first)}", style="bold red")] if first is not None else []),
        *([Text(f"free while written {late:.3f} s")] if late else []),
    ]
    return Text("; ").join(said)


def time_cell(room: Seen, side: str, state: str, until: float) -> str:
    """Seconds that a side of the room was in a state."""
    entered = {"prefill": room.record.prefill, "decode": room.record.decode}[side]
    took, left = times_in(entered, until).get(state, (None, True))
    return seconds(took) + ("" if left else "+")


def pages_cell(room: Seen) -> Text:
    """``1/9`` page rows differ."""
    pages = room.pages
    style = "bold red" if pages.different else ""
    return Text(f"{pages.different}/{pages.compared}" if pages.compared else NONE, style=style)


def difference(found: Difference) -> str:
    """``index_k 3, 120 -> 87``."""
    source = NONE if found.src_page is None else found.src_page
    return f"{found.pool} {found.position}, {source} -> {found.dst_page}"


def seconds(value: float | None) -> str:
    """At most five characters up to a day; a dash for what is not known."""
    if value is None:
        return NONE
    digits = next((n for n, most in ((3, 10), (2, 100), (1, 1000)) if value < most), 0)
    return f"{value:.{digits}f}"


def megabytes(value: float) -> str:
    """10^6 bytes."""
    return f"{value / 1e6:.2f}"


def summary_line(
    rooms: Sequence[Seen], again: int = 0, layers: Mapping[str, int] | None = None
) -> str:
    """``rooms 240: 168 succeeded, 72 failed (timed out in WaitingForInput 72), 40 asked again``...

    ``again`` is how many tries failed and were asked again, ``layers`` our layers of each pool.
    """
    told = summary(rooms, layers or {})
    if not told["rooms"]:
        return "no room was opened"
    ends = [
        f"{told['succeeded']} succeeded",
        failed_of(sum(told["failed"].values()), told["failed"]),
        *([f"{told['without_end']} without an end"] if told["without_end"] else []),
        *([f"{again} asked again"] if again else []),
    ]
    where = f" (in rooms: {told['rooms_different']})" if told["rooms_different"] else ""
    pools = [f"{p} {megabytes(n)}" for p, n in told["flash_bytes_by_pool"].items() if n >= 5e3]
    return (
        f"rooms {told['rooms']}: {', '.join(ends)}; page rows compared {told['pages_compared']:,}, "
        f"different {told['pages_different']:,}{where}; {megabytes(told['flash_bytes'])} MB as 43 "
        f"layers send them ({', '.join(pools) or 'none'}), {megabytes(told['moved_bytes'])} MB "
        "moved"
    )


def rooms_document(
    history: ArmHistory, rooms: Sequence[Seen], limit: int, session: int | None = None
) -> dict[str, Any]:
    """The same for `--json`: durations in seconds, and whether a state was left."""
    layers, late = layers_of(history), late_of(joined(history), session)
    mine = of_session(rooms, session)
    shown = worst_first(mine, involved(late))[:limit]
    queues = history.settings.get("queue_size")
    return {
        "name": history.name,
        "disaggregated": disaggregated(history.settings, history.counters),
        "summary": {
            **summary(rooms, layers),
            "asked_again": history.counters.get("client_retries", 0),
            "late_writes": [asdict(it) for it in late],
        },
        "rooms": [
            {**room_document(it, layers, history.virtual_s), "queue": queue(it, queues)}
            for it in shown
        ],
    }


def room_document(room: Seen, layers: Mapping[str, int], until: float) -> dict[str, Any]:
    """One room: its record, its times in each state, bytes as 43 layers send them, its pages."""
    record, pages = room.record, room.pages
    sides = {"prefill": record.prefill, "decode": record.decode}
    return {
        **asdict(record),
        "session": room.session,
        "turn": room.turn,
        "in_state_s": {
            side: {s: took for s, (took, _) in times_in(entered, until).items()}
            for side, entered in sides.items()
        },
        "free_while_written_s": free_while_written_s(record),
        "flash_bytes_by_pool": {p: round(n) for p, n in flash_bytes(record, layers).items()},
        "pages_compared": pages.compared,
        "pages_different": pages.different,
        "first_difference": None if pages.first is None else pages.first._asdict(),
    }
