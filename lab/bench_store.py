"""The store under millions of replies: how fast runs go in, and how long questions take.

One rule: rows go in by the functions that `kvlab run` calls, an arm a transaction, and only those
are timed; each question is asked several times, and the first time is told apart: it reads the
disk.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import disk_usage
from statistics import median
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group
from rich.table import Table

from engine.clock import cpu_s, wall_s
from lab import bench_store_load as load
from lab.bench_store_questions import ASKED, VIEWS
from lab.errors import UserError
from lab.store import open_results
from lab.store.reading import reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from rich.console import RenderableType

    from lab.store import Results

ROUNDS = 3
BYTES = 600  # of disk a reply, with what is free again and the log: twice what was seen
BOUND_S, BOUND_ROWS_S = 2.0, 50_000  # a question, and replies a second
Tick = Callable[[int, int], None]


@dataclass
class Spent:
    """Seconds that storing took."""

    wall_s: float = 0.0
    cpu_s: float = 0.0

    def __call__(self, work: Callable[[], object]) -> None:
        """Do ``work`` and count what it takes."""
        began, computed = wall_s(), cpu_s()
        work()
        self.wall_s += wall_s() - began
        self.cpu_s += cpu_s() - computed


def measure(replies: int, folder: Path | None, tick: Tick) -> dict[str, Any]:
    """Store about ``replies``, ask every question, delete the file; JSON-ready. Raises
    ``UserError`` where there is no such folder, or no room.
    """
    _room(replies, folder or Path(gettempdir()))
    with TemporaryDirectory(prefix="kvlab-bench-", dir=folder) as made:
        path = Path(made) / "lab.duckdb"
        return ingest(path, replies, tick) | {"questions": ask(path)}


def _room(replies: int, folder: Path) -> None:
    try:
        free = disk_usage(folder).free
    except OSError as error:
        raise UserError(f"--dir {folder}: {error.strerror}") from error
    if free < (needed := replies * BYTES):
        room = f"{needed / 2**30:.1f} GiB are needed for {replies:,} replies"
        raise UserError(f"{folder}: {room}, {free / 2**30:.1f} GiB are free; --dir names another")


def ingest(path: Path, replies: int, tick: Tick) -> dict[str, Any]:
    """Store the runs; replies and rows of all tables a second of wall and of CPU time."""
    spent, done = Spent(), 0
    with open_results(path) as results:
        for run in load.runs(replies):
            _store(results, run, spent)
            done += run.replies
            tick(done, replies)
        spent(lambda: results.db.execute("CHECKPOINT"))
        rows = counted(results)
    return {
        "replies": rows["replies"],
        "rows": rows,
        "ingest_wall_s": round(spent.wall_s, 3),
        "ingest_cpu_s": round(spent.cpu_s, 3),
        "replies_per_s": round(rows["replies"] / spent.wall_s),
        "replies_per_cpu_s": round(rows["replies"] / spent.cpu_s),
        "rows_per_s": round(sum(rows.values()) / spent.wall_s),
        "file_bytes": path.stat().st_size,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def _store(results: Results, made: load.Made, spent: Spent) -> None:
    """One run as `kvlab run` stores it: its arms one by one, then what was concluded."""
    run = results.begin_run("made_up", load.SCENARIO, made.number, {"sources": "0" * 16})
    verdicts, findings = [], {}
    for arm in made.arms():
        spent(partial(results.save_arm, run, arm))
        findings[arm.name] = load.findings(arm)
        verdicts.append(load.verdict(arm, findings[arm.name]))
    spent(lambda: results.save_verdict(run, load.judged(run, verdicts), findings))
    spent(lambda: results.finish_run(run, "done"))


def counted(results: Results) -> dict[str, int]:
    """Rows of every table that has any."""
    found = results.db.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    tables = sorted(name for (name,) in found if name != "schema_version")
    rows = {name: results.db.execute(f"SELECT count(*) FROM {name}").fetchone() for name in tables}
    return {name: int(row[0]) for name, row in rows.items() if row and row[0]}


def ask(path: Path) -> list[dict[str, Any]]:
    """Every question, first those of the commands, then those of the views."""
    told = []
    with open_results(path, create=False) as results:
        run = _largest(results)
        for name, question in ASKED.items():
            told.append(_timed("command", name, partial(question, results, run)))
    began = wall_s()
    with reading(path) as db:
        told.append(
            {"of": "view", "question": "opening", "first_s": wall_s() - began, "median_s": None}
        )
        for name, sql in VIEWS.items():
            given = {"run": run} if "$run" in sql else {}
            told.append(_timed("view", name, partial(_asked, db, sql, given)))
    return told


def _asked(db: DuckDBPyConnection, sql: str, given: Mapping[str, str]) -> list[Any]:
    return db.execute(sql, given).fetchall()


def _largest(results: Results) -> str:
    row = results.db.execute(
        "SELECT run FROM arms GROUP BY run ORDER BY sum(sessions) DESC, run DESC LIMIT 1"
    ).fetchone()
    assert row is not None
    return str(row[0])


def _timed(of: str, name: str, question: Callable[[], object]) -> dict[str, Any]:
    took = []
    for _ in range(ROUNDS):
        began = wall_s()
        question()
        took.append(wall_s() - began)
    return {"of": of, "question": name, "first_s": took[0], "median_s": median(took)}


def table(document: Mapping[str, Any]) -> RenderableType:
    """Ingest in two lines, then one row a question; what is over its bound says so."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("question", "of"):
        made.add_column(head)
    for head in ("first, s", "median, s", ""):
        made.add_column(head, justify="right", no_wrap=True)
    for it in document["questions"]:
        slow = max(it["first_s"], it["median_s"] or 0.0) > BOUND_S
        middle = "" if it["median_s"] is None else f"{it['median_s']:.3f}"
        over = f"over {BOUND_S:.0f} s" if slow else ""
        made.add_row(it["question"], it["of"], f"{it['first_s']:.3f}", middle, over)
    return Group(heading(document), made)


def heading(document: Mapping[str, Any]) -> str:
    """What was stored, how fast, and what that took."""
    rate = document["replies_per_s"]
    slow = "" if rate >= BOUND_ROWS_S else f" (under {BOUND_ROWS_S:,})"
    return (
        f"{document['replies']:,} replies, {sum(document['rows'].values()):,} rows,"
        f" {document['file_bytes'] / 2**30:.2f} GiB of file\n"
        f"stored in {document['ingest_wall_s']:.1f} s: {rate:,} replies a second{slow},"
        f" {document['rows_per_s']:,} rows a second; {document['replies_per_cpu_s']:,} replies a"
        f" second of CPU; at most {document['peak_memory_bytes'] / 2**30:.2f} GiB of memory\n"
    )
