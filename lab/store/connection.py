"""Opening the DuckDB file, and transactions on it.

One rule: whatever DuckDB says about a file reaches the user as one line that says what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb

from lab.errors import StoreError

# What DuckDB raises when the file fails under it: at once, at the commit, or ever after.
FILE_FAILED = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)

CONFIG = {
    "autoinstall_known_extensions": "false",  # a results file needs none; no command downloads one
    "pandas_analyze_sample": "0",  # columns of text are that, whatever the first rows hold
}

if TYPE_CHECKING:
    from pathlib import Path


def connect(path: Path) -> duckdb.DuckDBPyConnection:
    """Open ``path`` for writing, making its folder; raises ``StoreError``.

    DuckDB locks the file for the whole process, so one process at a time has a database.
    """
    if path.is_dir():
        raise StoreError(f"{path}: cannot be opened: is a folder; name a file with --db")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return duckdb.connect(str(path), config=dict(CONFIG))
    except OSError as error:
        raise StoreError(f"{path}: cannot make its folder: {error.strerror}") from error
    except duckdb.Error as error:
        raise StoreError(f"{path}: {explain(str(error))}") from error


def explain(message: str) -> str:
    """DuckDB's words about a file that it cannot open, in ours, on one line."""
    if "Could not set lock" in message or "already open" in message:
        holder = re.search(r"PID (\d+)", message)
        who = f"another process (PID {holder[1]})" if holder else "another process"
        return f"in use by {who}; wait for it to end, or choose another file with --db"
    if "not a valid DuckDB database file" in message:
        return "not a DuckDB file; choose another file with --db"
    return f"cannot be opened: {first_line(message)}"


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
