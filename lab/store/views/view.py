"""A view: a question that is asked often, under a name, with every column explained.

One rule: a column's meaning stands beside its expression, so neither is changed without the other.
Views live in the code, not in the file: a newer kvlab shows an older file as it shows its own.
"""

from __future__ import annotations

from dataclasses import dataclass

STORE = "store"  # the name under which the results file is attached
# Whatever belongs to an arm is shown under the arm's name; ``t`` is the table, ``a`` its arm.
OF_ARM = "JOIN store.arms a ON a.run = t.run AND a.arm = t.arm"


@dataclass(frozen=True)
class Column:
    """One column: its name, what it says with its unit, and how it is had."""

    name: str
    meaning: str
    sql: str


@dataclass(frozen=True)
class View:
    """A named SELECT over the attached file; ``about`` says what one row is."""

    name: str
    about: str
    columns: tuple[Column, ...]
    source: str  # what follows FROM

    @property
    def select(self) -> str:
        """The statement itself."""
        taken = ", ".join(f"{column.sql} AS {column.name}" for column in self.columns)
        return f"SELECT {taken} FROM {self.source}"


def columns(*given: tuple[str, str] | tuple[str, str, str]) -> tuple[Column, ...]:
    """Columns from (name, meaning, expression); of two the expression is the table's own column."""
    return tuple(Column(it[0], it[1], it[2] if len(it) == 3 else f"t.{it[0]}") for it in given)


RUN = ("run", "the run's id")
ARM = ("arm", "the arm's name", "a.name")
SESSION = ("session", "number of the simulated client, from 0")
TURN = ("turn", "its turn, from 0")
