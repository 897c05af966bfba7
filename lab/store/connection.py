"""Opening the DuckDB file, and transactions on it.

One rule: whatever DuckDB says about a file reaches the user as one line that says what to do.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import duckdb

from engine.clock import deadline, pause
from lab.errors import StoreError

T = TypeVar("T")

# What DuckDB raises when the file fails under it: at once, at the commit, or ever after.
FILE_FAILED = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)

LOCKED = "Could not set lock"  # DuckDB's words where another process has the file
LONGEST = 120  # characters of the command of who has the file
PATIENCE_S, BETWEEN_S = 10.0, 0.1  # how long such a file is waited for, and from look to look
CONFIG = {
    # Whenever the log is folded in, a table's last rows are written again: often enough that what
    # a killed process leaves costs the next one a second, and no more often.
    "checkpoint_threshold": "64MB",
    "memory_limit": "2GB",  # beside whatever runs here; what needs more goes to disk meanwhile
    "autoinstall_known_extensions": "false",  # a results file needs none; no command downloads one
    "pandas_analyze_sample": "0",  # columns of text are that, whatever the first rows hold
}


def connect(path: Path) -> duckdb.DuckDBPyConnection:
    """Open ``path`` for writing, making its folder; raises ``StoreError``.

    DuckDB locks the file for the whole process, so one process at a time has a database; a second
    one waits a while.
    """
    if path.is_dir():
        raise StoreError(f"{path}: cannot be opened: is a folder; name a file with --db")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot make its folder: {error.strerror}") from error
    return patiently(path, lambda: duckdb.connect(str(path), config=dict(CONFIG)))


def patiently(path: Path, attempt: Callable[[], T]) -> T:
    """What ``attempt`` gives, once no other process has the file; who has it is said on stderr.

    Raises ``StoreError`` where the file cannot be opened, or is still held after ``PATIENCE_S``.
    """
    left, told = deadline(PATIENCE_S), False
    while True:
        try:
            return attempt()
        except duckdb.Error as error:
            message = str(error)
            if LOCKED not in message or not left():
                raise StoreError(f"{path}: {explain(message)}") from error
        if not told:
            sys.stderr.write(f"kvlab: {path}: waiting for {holder(message)}\n")
            sys.stderr.flush()
            told = True
        pause(BETWEEN_S)


def explain(message: str) -> str:
    """DuckDB's words about a file that it cannot open, in ours, on one line."""
    if LOCKED in message or "already open" in message:
        return f"in use by {holder(message)}; wait for it to end, or choose another file with --db"
    if "not a valid DuckDB database file" in message:
        return "not a DuckDB file; choose another file with --db"
    return f"cannot be opened: {first_line(message)}"


def holder(message: str) -> str:
    """Who has the file, as far as DuckDB says, and what a kvlab among them was asked."""
    found = re.search(r"PID (\d+)", message)
    if found is None:
        return "another process"
    asked = command_of(int(found[1]))
    return f"another process (PID {found[1]}{f': {asked}' if asked else ''})"


def command_of(pid: int) -> str:
    """The command line of a kvlab that runs; empty where it is none, or no `/proc` tells it."""
    try:
        said = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    argv = said.split("\0")[:-1]
    names = [Path(word).name for word in argv[:2]]  # the interpreter may stand before the script
    if "kvlab" not in names:
        return ""
    asked = " ".join(shlex.join(["kvlab", *argv[names.index("kvlab") + 1 :]]).split())
    return asked if len(asked) <= LONGEST else f"{asked[:LONGEST]}..."


def first_line(message: str) -> str:
    """The first line of an error's text."""
    return message.strip().partition("\n")[0]


@contextmanager
def transaction(db: duckdb.DuckDBPyConnection, path: str) -> Iterator[None]:
    """All or nothing: commit at the end, roll back on any exception, an interrupt included.

    Raises ``StoreError`` when the file itself fails (a full disk, a vanished folder).
    """
    try:
        db.execute("BEGIN")
        yield
        db.execute("COMMIT")
    except FILE_FAILED as error:
        roll_back(db)
        raise StoreError(f"{path}: cannot be written: {first_line(str(error))}") from error
    except BaseException:
        roll_back(db)
        raise


def roll_back(db: duckdb.DuckDBPyConnection) -> None:
    """End the open transaction; a failed commit has already ended it."""
    try:
        db.execute("ROLLBACK")
    except duckdb.TransactionException:
        return
