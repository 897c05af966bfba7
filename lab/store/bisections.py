"""Bisections and their trials, in and out of the database.

One rule: a trial is stored as soon as it ends. The probe that asked for it is written over it when
that is complete, so an interruption costs the trials that were running and no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab.bisect.notebook import Phase, Probe
from lab.bisect.space import Config
from lab.bisect.trials import Trial
from lab.errors import StoreError
from lab.store.columns import encode
from lab.store.connection import transaction
from lab.store.ids import BISECTION, named, new_id, now
from lab.store.rows import RunStatus
from lab.store.trial_rows import (
    TRIAL_COLUMNS,
    StoredBisection,
    bisection_of,
    config_of,
    config_text,
    trial_of,
    trial_row,
)

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

Remembered = dict[tuple[Config, int], Trial]  # by configuration and index
ENDS = frozenset({RunStatus.DONE, RunStatus.INTERRUPTED, RunStatus.FAILED})
LEGAL: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.RUNNING: ENDS,
    RunStatus.INTERRUPTED: frozenset({RunStatus.RUNNING}),
    RunStatus.FAILED: frozenset({RunStatus.RUNNING}),
    RunStatus.DONE: frozenset(),
}
COLUMNS = """
    SELECT id, scenario, yaml, seed, method, options, versions, status, started_at, verdict,
        (SELECT count(*) FROM trials WHERE bisection = id),
        (SELECT coalesce(sum(sessions), 0) FROM trials WHERE bisection = id),
        (SELECT coalesce(sum(wall_s), 0) FROM trials WHERE bisection = id)
    FROM bisections
    """


class Bisections:
    """The bisections of an open database; a part of `Results`."""

    db: DuckDBPyConnection
    path: Path

    def begin_bisection(
        self,
        scenario_name: str,
        scenario_yaml: str,
        seed: int,
        method: str,
        options: Mapping[str, Any],
        versions: Mapping[str, Any],
    ) -> str:
        """Enter a bisection as ``running``; returns its id, of the same scheme as a run's."""
        started_at = now()
        made = new_id(self.db, f"{scenario_name}\n{scenario_yaml}\n{seed}\n{method}", started_at)
        values = [made, scenario_name, encode(scenario_yaml), seed, method]
        values += [encode(dict(options)), encode(dict(versions)), "running", started_at]
        with transaction(self.db, str(self.path)):
            self.db.execute(
                "INSERT INTO bisections (id, scenario, yaml, seed, method, options, versions,"
                " status, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        return made

    def resume_bisection(self, bisection: str) -> None:
        """Say that one which was interrupted, or failed, runs again."""
        self._move(bisection, RunStatus.RUNNING, None)

    def extend_bisection(self, bisection: str, options: Mapping[str, Any]) -> None:
        """Let one that does not run go on under other options; what it concluded is kept meanwhile.

        Its probes are put together again, as they may be asked in another order from now on.
        """
        with transaction(self.db, str(self.path)):
            self.db.execute(
                "UPDATE bisections SET options = ?, status = ? WHERE id = ?",
                [encode(dict(options)), RunStatus.INTERRUPTED.value, bisection],
            )
            self.db.execute("UPDATE trials SET probe = NULL WHERE bisection = ?", [bisection])
        self.resume_bisection(bisection)

    def finish_bisection(
        self, bisection: str, status: RunStatus | str, verdict: Mapping[str, Any] | None = None
    ) -> None:
        """Say what became of a running one, with its document where it came to a verdict."""
        self._move(bisection, RunStatus(status), verdict)

    def amend_verdict(self, bisection: str, verdict: Mapping[str, Any]) -> None:
        """The document of one that is done, with what was found since."""
        with transaction(self.db, str(self.path)):
            self.db.execute(
                "UPDATE bisections SET verdict = ? WHERE id = ?", [encode(dict(verdict)), bisection]
            )

    def save_trial(self, bisection: str, config: Config, trial: Trial) -> None:
        """One trial that has just ended, its probe still open."""
        with transaction(self.db, str(self.path)):
            self._insert(bisection, config, [trial])

    def save_probe(self, bisection: str, number: int, probe: Probe) -> None:
        """A complete probe, the ``number``-th from 0, with its trials: all of it or nothing."""
        config = config_text(probe.config)
        asked = [trial.index for trial in probe.outcome]
        key = [bisection, config, asked]
        which = " WHERE bisection = ? AND config = ? AND list_contains(?::BIGINT[], trial)"
        with transaction(self.db, str(self.path)):
            found = self.db.execute(f"SELECT trial FROM trials{which}", key).fetchall()
            stored = frozenset(index for (index,) in found)
            new = [trial for trial in probe.outcome if trial.index not in stored]
            self._insert(bisection, probe.config, new)
            self.db.execute(
                f"UPDATE trials SET probe = ?, phase = ?{which}", [number, probe.phase.value, *key]
            )

    def bisections(self) -> list[StoredBisection]:
        """Every bisection, oldest first."""
        found = self.db.execute(f"{COLUMNS} ORDER BY started_at, rowid").fetchall()
        return [bisection_of(row) for row in found]

    def bisection(self, bisection: str) -> StoredBisection:
        """One bisection by its whole id; raises ``StoreError``."""
        row = self.db.execute(f"{COLUMNS} WHERE id = ?", [bisection]).fetchone()
        if row is None:
            raise StoreError(f"{self.path}: no bisection {bisection!r}")
        return bisection_of(row)

    def resolve_bisection(self, name: str) -> str:
        """A bisection's id from ``last``, the id's beginning, or its four last characters."""
        found = self.db.execute("SELECT id FROM bisections ORDER BY started_at, rowid").fetchall()
        return named(name, [known for (known,) in found], BISECTION, self.path)

    def trials(self, bisection: str) -> Remembered:
        """Every trial that ended, by configuration and index, in the order in which they ended."""
        return {(config, trial.index): trial for _, _, config, trial in self._read(bisection)}

    def probes(self, bisection: str) -> list[Probe]:
        """Every probe that was completed, in order; its trials in the order of their indices."""
        asked: dict[int, tuple[Phase, Config, list[Trial]]] = {}
        for number, phase, config, trial in self._read(bisection):
            if number is not None:
                asked.setdefault(number, (Phase(phase), config, []))[2].append(trial)
        return [
            Probe(phase, config, tuple(sorted(trials, key=lambda trial: trial.index)))
            for _, (phase, config, trials) in sorted(asked.items())
        ]

    def seconds_a_session(self, scenario: str) -> float | None:
        """What a session of a scenario took, of all that is stored of it; None where nothing is."""
        row = self.db.execute(
            """
            SELECT sum(wall_s) / nullif(sum(sessions), 0) FROM (
                SELECT t.wall_s, t.sessions FROM trials t JOIN bisections b ON b.id = t.bisection
                WHERE b.scenario = ?
                UNION ALL
                SELECT a.wall_s, a.sessions FROM arms a JOIN runs r ON r.id = a.run
                WHERE r.scenario = ?)
            """,
            [scenario, scenario],
        ).fetchone()
        return float(row[0]) if row and row[0] else None

    def _read(self, bisection: str) -> list[tuple[int | None, str, Config, Trial]]:
        found = self.db.execute(
            f"SELECT probe, phase, config, trial, {', '.join(TRIAL_COLUMNS)} FROM trials"
            " WHERE bisection = ? ORDER BY position",
            [bisection],
        ).fetchall()
        return [
            (probe, phase, config_of(config), trial_of(index, own))
            for probe, phase, config, index, *own in found
        ]

    def _insert(self, bisection: str, config: Config, trials: Sequence[Trial]) -> None:
        """Append trials of no probe; the caller holds the transaction."""
        columns = ("bisection", "position", "config", "trial", *TRIAL_COLUMNS)
        marks = ", ".join("?" * (len(columns) - 2))
        for trial in trials:
            values = [bisection, config_text(config), trial.index, *trial_row(trial)]
            self.db.execute(
                f"INSERT INTO trials ({', '.join(columns)}) SELECT ?,"
                f" (SELECT count(*) FROM trials WHERE bisection = ?), {marks}",
                [bisection, *values],
            )

    def _move(self, bisection: str, to: RunStatus, verdict: Mapping[str, Any] | None) -> None:
        at = self.bisection(bisection).status
        if to not in LEGAL[at]:
            word = f"bisection {bisection} is {at.value}, it cannot become {to.value}"
            raise StoreError(f"{self.path}: {word}")
        with transaction(self.db, str(self.path)):
            self.db.execute(
                "UPDATE bisections SET status = ?, verdict = coalesce(?, verdict) WHERE id = ?",
                [to.value, None if verdict is None else encode(dict(verdict)), bisection],
            )
