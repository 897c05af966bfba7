"""Ids of what is stored, and the names by which a user means one.

One rule: runs and bisections share one scheme, and no id is given twice in one database.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from lab.errors import StoreError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Kind(NamedTuple):
    """What is looked for: ``run``, and the command that makes one."""

    one: str
    maker: str


BEFORE = re.compile(r"last~(\d{1,9})")
RUN = Kind("run", "kvlab run")
BISECTION = Kind("bisection", "kvlab bisect")


def new_id(db: DuckDBPyConnection, what: str, at: datetime) -> str:
    """An id that nothing has, such as ``20261129T194500-ab12``: the moment, four digits."""
    found = db.execute("SELECT id FROM runs UNION ALL SELECT id FROM bisections").fetchall()
    taken = {known for (known,) in found}
    counter = len(taken)
    while True:
        suffix = hashlib.sha256(f"{what}\n{counter}".encode("utf-8", "replace")).hexdigest()[:4]
        made = f"{at:%Y%m%dT%H%M%S}-{suffix}"
        if made not in taken:
            return made
        counter += 1


def named(name: str, known: Sequence[str], kind: Kind, path: object) -> str:
    """The id that ``last``, ``last~1`` (the one before it), its beginning or its four last
    characters mean, oldest id first.

    Raises ``StoreError``.
    """
    if not known:
        raise StoreError(f"{path}: holds no {kind.one} yet; `{kind.maker}` makes one")
    if name == "last":
        return known[-1]
    if (before := BEFORE.fullmatch(name)) and int(before[1]) < len(known):
        return known[-1 - int(before[1])]
    found = [one for one in known if one.startswith(name) or one.endswith(f"-{name}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise StoreError(f"{path}: {name!r} fits {len(found)} {kind.one}s: {shown(found)}")
    raise StoreError(f"{path}: no {kind.one} {name!r}; the latest: {shown(known)}")


def shown(ids: Sequence[str]) -> str:
    """The latest few ids, for a message."""
    return ", ".join(reversed(ids[-4:]))


def now() -> datetime:
    """The moment, UTC without a zone: DuckDB's TIMESTAMP as Python reads it back."""
    return datetime.now(UTC).replace(tzinfo=None)
