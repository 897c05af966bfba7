"""Corrupt replies as text, each with a mark under the character where it leaves the right one.

One rule: what is printed is the raw text; only characters that a terminal would obey are spelled
out.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from lab.detectors.surface import whole
from lab.joins import joined, numbered, room_of
from lab.rooms import where, writer

if TYPE_CHECKING:
    from rich.console import Console

    from lab.records import ArmHistory, Finding, Reply
    from lab.store import Results

REST = 60  # characters of the right text shown from the first difference on


@dataclass(frozen=True)
class Case:
    """One reply with the failed findings on it, and the arm it belongs to."""

    arm: str
    reply: Reply
    failed: tuple[Finding, ...]
    room: int | None = None  # of a disaggregated arm, where it is known
    hit_by: tuple[str, ...] = ()  # who wrote late into that room's pages, a phrase each


def show_replies(
    results: Results,
    run: str,
    session: int | None = None,
    *,
    console: Console,
    arm: str | None = None,
    limit: int = 3,
    histories: Sequence[ArmHistory] | None = None,
) -> int:
    """Print the worst replies of a judged run, or all that failed in ``session``.

    ``histories`` are its arms, or ``arm``, where they have been read already. Returns how many were
    printed. Raises ``StoreError`` for an unknown or unjudged run.
    """
    results.verdict(run)
    findings = results.findings(run)
    cases = [
        case
        for history in (results.histories(run, arm) if histories is None else histories)
        for case in failed_replies(history, findings.get(history.name, ()))
        if session is None or case.reply.session == session
    ]
    chosen = cases if session is not None else sorted(cases, key=badness)[:limit]
    for case in chosen:
        console.print(case_text(case, console.width))
    hidden = len(cases) - len(chosen)
    if hidden:
        console.print(f"{hidden} more; --session N shows one session's, --limit N shows more")
    elif not cases:
        console.print("No reply failed a detector.")
    return len(chosen)


def failed_replies(history: ArmHistory, findings: Sequence[Finding]) -> list[Case]:
    """The replies on which a detector failed, in the arm's order."""
    failed: defaultdict[tuple[int, int], list[Finding]] = defaultdict(list)
    for found in findings:
        if found.outcome == "fail":
            failed[found.session, found.turn].append(found)
    numbers, late = numbered(history), joined(history)
    cases = []
    for reply in history.replies:
        if (reply.session, reply.turn) in failed:
            room = room_of(reply, numbers)
            hits = [f"{writer(it)}: {where(it)}" for it in late if room == it.victim_room]
            its = tuple(failed[reply.session, reply.turn])
            cases.append(Case(history.name, reply, its, room, tuple(hits)))
    return cases


def badness(case: Case) -> tuple[bool, int, int, int]:
    """Sorts the worst first: corrupt before anything else, most detectors, longest damage."""
    corrupt = any(found.kind == "corrupt" for found in case.failed)
    at = first_difference(got_text(case.reply), case.reply.expected_text)
    damage = 0 if at is None else len(got_text(case.reply)) - at
    return not corrupt, -len(case.failed), -damage, case.reply.session


def first_difference(got: str, expected: str) -> int | None:
    """The index of the first character that differs, or that only one has; None if equal."""
    for index, (one, other) in enumerate(zip(got, expected, strict=False)):
        if one != other:
            return index
    return None if len(got) == len(expected) else min(len(got), len(expected))


def got_text(reply: Reply) -> str:
    """The raw text, or what was visible where the server gave no token ids."""
    return reply.raw_text if reply.raw_text is not None else reply.content or ""


def case_text(case: Case, width: int) -> Text:
    """Heading, findings, and the marked text, hard-wrapped to ``width`` cells."""
    reply, got = case.reply, got_text(case.reply)
    at = first_difference(got, reply.expected_text)
    text = Text(f"{case.arm}, session {reply.session}, turn {reply.turn}", style="bold")
    text.append(f": {reply.status}, finish_reason {reply.finish_reason}", style="not bold")
    if reply.tries > 1:
        text.append(f", try {reply.tries}", style="not bold")
    if reply.request_id is not None:
        text.append(f", request {reply.request_id}", style="not bold")
    if case.room is not None:
        text.append(f", room {case.room}", style="not bold")
    if reply.raw_text is None:
        text.append("; raw text unknown, visible text shown", style="not bold")
    for found in case.failed:
        text.append(f"\n  {found.detector}: {found.detail}", style="not bold")
    for hit in case.hit_by:
        text.append(f"\n  hit by {hit}", style="not bold")
    known = bool(reply.expected_text)
    lines = marked(got, reply.expected_text, at, width - 4) if known else told(reply, width - 4)
    for line in lines:
        text.append(f"\n  {line}", style="not bold")
    text.append("\n")
    return text


def told(reply: Reply, width: int) -> Iterator[str]:
    """A reply whose right text nobody knows, its calls included, and the call that was due."""
    for line in wrapped(whole(reply), width):
        yield "| " + visible(line)
    if due := reply.expected_call:
        arguments = json.dumps(due["arguments"], ensure_ascii=False)
        yield f"due was the call {visible(due['name'])} {visible(arguments)}"


def marked(got: str, expected: str, at: int | None, width: int) -> Iterator[str]:
    """The text in lines of ``width`` cells, with a caret line under its first difference."""
    if at is None:
        yield "the text is the expected one"
        return
    yield f"first difference at character {at} of {len(got)}"
    start = 0
    for line in wrapped(got, width):
        yield "| " + visible(line)
        if start <= at < start + len(line):
            yield "  " + " " * cell_len(visible(line[: at - start])) + "^ " + said(expected, at)
        start += len(line)
    if at == len(got):
        yield f"  ^ ends here, {said(expected, at)}"


def said(expected: str, at: int) -> str:
    """What the right text has from the first difference on."""
    rest = expected[at : at + REST].replace("\n", "⏎")
    dots = "…" if len(expected) > at + REST else ""
    return f"expected {visible(rest)}{dots}" if rest else "expected the end"


def wrapped(text: str, width: int) -> Iterator[str]:
    """``text`` cut into lines of at most ``width`` cells; a newline stays with its line."""
    line, cells = "", 0
    for char in text:
        size = cell_len(visible(char))
        if cells + size > width and line:
            yield line
            line, cells = "", 0
        line, cells = line + char, cells + size
        if char == "\n":
            yield line
            line, cells = "", 0
    if line:
        yield line


def visible(text: str) -> str:
    """The text with control characters spelled out and a final newline dropped."""
    return "".join(
        char if char.isprintable() else f"\\x{ord(char):02x}" for char in text.removesuffix("\n")
    )
