"""What `kvlab bench load` tells a person. One rule: what was told stands beside what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lab.bench_load.measuring import MOST_ERROR
from lab.driver.lag import Lag, warning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType


def table(document: Mapping[str, Any]) -> RenderableType:
    """The measurement for a person."""
    return Group(_costs(document), Text(), _times(document), *_notes(document))


def _costs(document: Mapping[str, Any]) -> Table:
    """Requests a second, as configured and as done, and what they cost in CPU seconds."""
    made = _titled(_title(document))
    for head in ("requests", "failed", "asked/s", "done/s", "cores", "done/s/core"):
        made.add_column(head, justify="right", no_wrap=True)
    made.add_column("kvlab / it", justify="right", no_wrap=True)
    for row in document["rows"]:
        counts = str(row["requests"]), str(row["failed"])
        pace = _number(row["asked_per_s"], 1), _number(row["requests_per_s"], 1)
        cost = _number(row["cores"], 2), _number(row["requests_per_core_s"], 0)
        made.add_row(*_who(row), *counts, *pace, *cost, _ratio(row["ratio"]))
    return made


def _times(document: Mapping[str, Any]) -> Table:
    """Gaps between tokens and first tokens, and how late the generator's loop ran."""
    made = _titled("milliseconds, as told by the generator and as sent by the server")
    for head in ("gap", "sent", "error", "first", "sent", "lag p50", "p99", "server late"):
        made.add_column(head, justify="right", no_wrap=True)
    for row in document["rows"]:
        gaps = _number(row["itl_ms"], 2), _number(row["itl_sent_ms"], 2), _share(row["itl_error"])
        firsts = _number(row["ttft_ms"], 1), _number(row["ttft_sent_ms"], 1)
        lag = _number(row["lag_median_ms"], 1), _number(row["lag_p99_ms"], 1)
        made.add_row(*_who(row), *gaps, *firsts, *lag, _number(row["server_late_p99_ms"], 1))
    return made


def _titled(title: str) -> Table:
    made = Table(title=title)
    made.title_justify = "left"
    made.add_column("generator", no_wrap=True)
    made.add_column("sessions", justify="right", no_wrap=True)
    return made


def _who(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["generator"], str(row["sessions"])


def _title(document: Mapping[str, Any]) -> str:
    pace, machine, rounds = document["pace"], document["machine"], document["rounds"]
    reply = f"{pace['tokens']} tokens a reply, {pace['itl_s'] * 1e3:g} ms apart"
    times = f", median of {rounds} rounds" if rounds > 1 else ""
    load = f"{machine['load_before']:.1f} before, {machine['load']:.1f} after"
    return f"{reply}{times}; {machine['cores']} cores, load average {load}"


def _notes(document: Mapping[str, Any]) -> list[Text]:
    """What a reader must know before believing a row."""
    said: list[str] = []
    for row in document["rows"]:
        who = f"{row['generator']} at {row['sessions']} sessions"
        if row["itl_error"] is not None and abs(row["itl_error"]) > MOST_ERROR:
            said.append(f"{who}: gaps are told wrong by more than {MOST_ERROR:.0%}")
        p99_s, worst_s = ((row[key] or 0.0) / 1e3 for key in ("lag_p99_ms", "lag_worst_ms"))
        lag = Lag(p99_s=p99_s, worst_s=worst_s, cores=row["cores"])
        asked = row["asked_per_s"] if document["rate"] else None  # else sessions wait for replies
        late = warning(lag, row["requests_per_s"], asked)
        said += [f"{who}: {late}"] if late else []
    return [Text(line) for line in said]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
