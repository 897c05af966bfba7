"""``Results``: the one way in and out of the results database.

One rule: one process has the file for as long as its run lasts, so a run found ``running`` when
the file is opened belongs to a process that is gone, and becomes ``interrupted``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from lab.errors import StoreError
from lab.records import ArmHistory, Asked, Finding, RunVerdict
from lab.store import queries, saves
from lab.store.bisections import Bisections
from lab.store.columns import encode
from lab.store.connection import connect, transaction
from lab.store.histories import read_histories, uncollected
from lab.store.ids import BISECTION, RUN, Kind, named, new_id, now
from lab.store.migrations import migrate
from lab.store.rooms import RoomPages, read_pages
from lab.store.rows import LEGAL, RunStatus, StoredRun

if TYPE_CHECKING:
    from types import TracebackType

DEFAULT_DB = Path("results/lab.duckdb")


def open_results(
    path: Path = DEFAULT_DB, *, create: bool = True, maker: str = RUN.maker
) -> Results:
    """Open the database, made if it is missing and ``create``; raises ``StoreError``.

    ``maker`` is the command that would make it.
    """
    if not create and not path.exists():
        raise StoreError(f"{path}: no such database; `{maker}` makes it, --db names another")
    return Results(path)


class Results(Bisections):
    """The results database, open; a context manager that closes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = connect(path)
        try:
            migrate(self.db, str(path))
            for table in ("runs", "bisections"):
                self.db.execute(
                    f"UPDATE {table} SET status = ? WHERE status = ?",
                    [RunStatus.INTERRUPTED.value, RunStatus.RUNNING.value],
                )
        except BaseException:
            self.db.close()
            raise

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def where(self) -> str:
        """What a command that is offered needs besides, to find this file: `` --db PATH``, or
        nothing.
        """
        return "" if self.path == DEFAULT_DB else f" --db {quote(str(self.path))}"

    def close(self) -> None:
        """Close the file and let other processes have it."""
        self.db.close()

    def begin_run(
        self,
        scenario_name: str,
        scenario_yaml: str,
        seed: int,
        versions: Mapping[str, Any],
        asked: Asked | None = None,
    ) -> str:
        """Enter a run as ``running``; returns its id, such as ``20261129T194500-ab12``."""
        started_at = now()
        run = new_id(self.db, f"{scenario_name}\n{scenario_yaml}\n{seed}", started_at)
        values = [run, scenario_name, encode(scenario_yaml), seed, encode(dict(versions))]
        values += [RunStatus.RUNNING.value, started_at, encode(asdict(asked or Asked()))]
        with transaction(self.db, str(self.path)):
            self.db.execute(
                "INSERT INTO runs (id, scenario, yaml, seed, versions, status, started_at, asked)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        return run

    def save_arm(self, run: str, history: ArmHistory) -> None:
        """Everything that one arm left, in one transaction: all of it or nothing. It takes the
        place of an arm of its name, which failed before.
        """
        with uncollected(), transaction(self.db, str(self.path)):
            arms = queries.arm_names(self.db, run)
            arm = arms.get(history.name, len(arms))
            if history.name in arms:
                saves.forget_history(self.db, run, arm)
            saves.save_history(self.db, run, arm, history)

    def finish_run(self, run: str, status: RunStatus | str) -> None:
        """Say what became of a running run; unless judged, its durations are sums over arms."""
        to = RunStatus(status)
        self._legal(run, to)
        with transaction(self.db, str(self.path)):
            saves.finish(self.db, run, to)

    def resume_run(self, run: str) -> None:
        """Say that one which was interrupted, or failed, runs again."""
        with transaction(self.db, str(self.path)):
            self._legal(run, RunStatus.RUNNING)
            self.db.execute(
                "UPDATE runs SET status = ? WHERE id = ?", [RunStatus.RUNNING.value, run]
            )

    def _legal(self, run: str, to: RunStatus) -> None:
        at = self.run(run).status
        if to not in LEGAL[at]:
            raise StoreError(f"{self.path}: run {run} is {at.value}, it cannot become {to.value}")

    def histories(self, run: str, arm: str | None = None) -> list[ArmHistory]:
        """What each stored arm left, or that one: equal to what was saved, in the run's order."""
        arms = queries.arm_names(self.db, self.run(run).id)
        asked = [number for name, number in arms.items() if arm in (None, name)]
        return read_histories(self.db, run, asked)

    def arms(self, run: str, arm: str | None = None, session: int | None = None) -> list[str]:
        """The names of a run's stored arms, in order: all, or ``arm``, or those that sent
        something for ``session``.
        """
        names = queries.arm_names(self.db, self.run(run).id)
        sent = set(names.values()) if session is None else queries.sent(self.db, run, session)
        return [name for name, at in names.items() if arm in (None, name) and at in sent]

    def room_pages(self, run: str, arm: str) -> dict[tuple[int, int], RoomPages]:
        """What became of the pages of an arm's rooms on their way, by rank and room."""
        return read_pages(self.db, run, queries.arm_names(self.db, run)[arm])

    def save_verdict(
        self, run: str, verdict: RunVerdict, findings: Mapping[str, Sequence[Finding]]
    ) -> None:
        """What was concluded, in place of what was concluded before; ``findings`` by arm name."""
        arms = queries.arm_names(self.db, run)
        judged_at = now()
        with transaction(self.db, str(self.path)):
            saves.forget_verdict(self.db, run)
            for arm in verdict.arms:
                key = (run, arms[arm.name])
                saves.save_arm_verdict(self.db, key, judged_at, arm)
                saves.save_findings(self.db, key, findings.get(arm.name, ()))
            saves.save_comparisons(self.db, run, verdict.comparisons)
            self.db.execute(
                "UPDATE runs SET wall_s = ?, virtual_s = ? WHERE id = ?",
                [verdict.wall_s, verdict.virtual_s, run],
            )

    def verdict(self, run: str) -> RunVerdict:
        """What was last concluded about a run; raises ``StoreError`` if it was never judged."""
        stored = self.run(run)
        if not stored.verdicts:
            raise StoreError(f"{self.path}: run {run} has no verdict; `kvlab judge {run}` makes it")
        return RunVerdict(
            run=run,
            scenario=stored.scenario,
            seed=stored.seed,
            wall_s=stored.wall_s or 0.0,
            virtual_s=stored.virtual_s or 0.0,
            arms=tuple(queries.read_arm_verdicts(self.db, run)),
            comparisons=tuple(queries.read_comparisons(self.db, run)),
        )

    def findings(self, run: str) -> dict[str, list[Finding]]:
        """The findings behind the verdict, by arm name, in the run's order."""
        arms = queries.arm_names(self.db, run)
        return {name: queries.read_findings(self.db, run, arm) for name, arm in arms.items()}

    def session_outcomes(self, run: str, arm: str) -> dict[int, bool]:
        """Whether each session of a judged arm is corrupt, of those that show anything."""
        return queries.session_outcomes(self.db, run, queries.arm_names(self.db, run)[arm])

    def session_loads(self, run: str, arm: str) -> dict[int, str]:
        """A digest of what each session of an arm was asked."""
        return queries.session_loads(self.db, run, queries.arm_names(self.db, run)[arm])

    def reply_times(
        self, run: str, arms: Sequence[str]
    ) -> dict[str, dict[tuple[int, int], list[float]]]:
        """Seconds to the first token and to the end, of the whole replies of each session, by
        (place in ``arms``, session).
        """
        known = queries.arm_names(self.db, run)
        return queries.reply_times(self.db, run, [known[arm] for arm in arms])

    def runs(self) -> list[StoredRun]:
        """Every run, oldest first."""
        return queries.read_runs(self.db)

    def run(self, run: str) -> StoredRun:
        """One run by its whole id; raises ``StoreError``."""
        found = queries.read_runs(self.db, run)
        if found:
            return found[0]
        raise StoreError(f"{self.path}: no run {run!r}")

    def resolve(self, name: str) -> str:
        """A run's id from ``last``, the id's beginning, or its four last characters."""
        known = [stored.id for stored in self.runs()]
        try:
            return named(name, known, RUN, self.path)
        except StoreError:
            found = self._bisection_meant(name)
            if not found:
                raise
        how = f"`kvlab report {found}{self.where}` shows it"
        raise StoreError(f"{self.path}: {found} is a bisection, not a run; {how}")

    def meant(self, name: str) -> tuple[Kind, str]:
        """What a name means, a run before a bisection, and its id; raises ``StoreError``.

        ``last`` is the newest of both; runs that no command asked for are a bisection's own.
        """
        bisections = self.bisections()
        if name == "last" and bisections:
            newest = bisections[-1]
            runs = [run for run in self.runs() if run.asked.argv]
            if not runs or runs[-1].started_at <= newest.started_at:
                return BISECTION, newest.id
            return RUN, runs[-1].id
        try:
            return RUN, self.resolve(name)
        except StoreError:
            try:
                return BISECTION, self.resolve_bisection(name)
            except StoreError:
                pass
            raise

    def _bisection_meant(self, name: str) -> str:
        """The id of the only bisection that a name fits; empty where there is none."""
        try:
            return self.resolve_bisection(name) if name else ""
        except StoreError:
            return ""
