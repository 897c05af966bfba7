"""Many rows into a table, as whole columns: what makes a run's end short.

One rule: a column's array has the type that the table says, so nothing is guessed from samples, and
at most ``BATCH`` rows are turned into arrays at a time, so memory does not grow with the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import orjson

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

BATCH = 65_536  # rows
POSITION = ("position", "place")  # a row's place in its arm, counted here
JSON = json.JSONEncoder(default=asdict)
TYPES: WeakKeyDictionary[DuckDBPyConnection, dict[str, dict[str, str]]] = WeakKeyDictionary()
Columns = Mapping[str, Sequence[Any]]


def encode(value: Any) -> Any:
    """A field's value as a column takes it: text without lone surrogates, structure as JSON."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict | list | tuple):
        return _json(value) if value else "{}" if isinstance(value, dict) else "[]"
    return value


def _json(value: Any) -> str:
    """Structure as JSON: compact, and by the slow way where it may hold what only that keeps: whole
    numbers beyond 64 bits, keys that are numbers, halves of surrogate pairs, infinity.
    """
    try:
        made = orjson.dumps(value)
    except TypeError:
        return JSON.encode(value)
    return JSON.encode(value) if b"null" in made else made.decode()


def insert(
    db: DuckDBPyConnection,
    table: str,
    key: Mapping[str, Any],
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
) -> None:
    """Append ``rows``, tuples of what ``names`` says, each under ``key``; a ``position`` or
    ``place`` that a table has and ``names`` lacks counts them. The caller holds the transaction.
    """
    rows, at = iter(rows), 0
    while batch := list(islice(rows, BATCH)):
        _append(db, table, key, dict(zip(names, zip(*batch, strict=True), strict=True)), at)
        at += len(batch)


def insert_records(
    db: DuckDBPyConnection,
    table: str,
    key: Mapping[str, Any],
    names: Sequence[str],
    records: Sequence[object],
) -> None:
    """Append the fields ``names`` of each record, as ``insert`` does."""
    for at in range(0, len(records), BATCH):
        batch = records[at : at + BATCH]
        _append(db, table, key, {n: [getattr(it, n) for it in batch] for n in names}, at)


def _append(
    db: DuckDBPyConnection, table: str, key: Mapping[str, Any], columns: Columns, at: int
) -> None:
    types = _types(db, table)
    n = len(next(iter(columns.values())))
    arrays = {name: ARRAYS[types[name]](values) for name, values in columns.items()}
    counted = [name for name in POSITION if name in types and name not in columns]
    arrays |= {name: np.arange(at, at + n) for name in counted}
    into, marks = ", ".join((*key, *arrays)), ", ".join((*("?" for _ in key), *arrays))
    db.register("incoming", arrays)
    try:
        db.execute(f"INSERT INTO {table} ({into}) SELECT {marks} FROM incoming", [*key.values()])
    finally:
        db.unregister("incoming")


def _types(db: DuckDBPyConnection, table: str) -> dict[str, str]:
    """The types of a table's columns; asked for once, for an open file's schema does not change."""
    known = TYPES.setdefault(db, {})
    if table not in known:
        result = db.execute(f"SELECT * FROM {table} LIMIT 0")
        known[table] = {name: str(kind) for name, kind, *_ in result.description or ()}
    return known[table]


def texts(values: Sequence[Any]) -> NDArray[np.object_]:
    """Encoded values of a column of text or JSON; None stays None."""
    plain = [it if it is None or it.__class__ is str else encode(it) for it in values]
    try:
        "".join(filter(None, plain)).encode()
    except UnicodeEncodeError:
        plain = [encode(it) for it in plain]
    return np.array(plain, dtype=np.object_)


def integers(values: Sequence[Any]) -> NDArray[np.int64]:
    """Whole numbers, none missing; raises ``OverflowError`` beyond 64 bits."""
    return np.array(values, dtype=np.int64)


def floats(values: Sequence[Any]) -> NDArray[np.float64]:
    """Numbers; None becomes NaN, which DuckDB takes for NULL."""
    return np.array(values, dtype=np.float64)


def booleans(values: Sequence[Any]) -> NDArray[np.bool_]:
    """Truth values, none missing."""
    return np.array(values, dtype=np.bool_)


ARRAYS: dict[str, Callable[[Sequence[Any]], NDArray[Any]]] = {
    "VARCHAR": texts,
    "JSON": texts,
    "INTEGER": integers,
    "BIGINT": integers,
    "DOUBLE": floats,
    "BOOLEAN": booleans,
}
