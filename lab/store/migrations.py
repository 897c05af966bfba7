"""The schema, as the steps that build it; each step runs once, in order, in its own transaction.

One rule: a migration that was ever released is never edited, only followed by another.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from duckdb import DuckDBPyConnection

from lab.errors import StoreError
from lab.store.connection import transaction

Migration = Callable[[DuckDBPyConnection], None]
MIGRATIONS: list[Migration] = []


def migration(step: Migration) -> Migration:
    """File ``step`` as the next one; its name must say its number (``m001_...``)."""
    expected = f"m{len(MIGRATIONS) + 1:03d}_"
    if not step.__name__.startswith(expected):
        raise ValueError(f"migration {step.__name__!r} must be named {expected}...")
    MIGRATIONS.append(step)
    return step


def migrate(db: DuckDBPyConnection, path: str) -> None:
    """Bring the database to this kvlab's schema.

    Raises ``StoreError`` when the file belongs to something else or to a newer kvlab.
    """
    version = schema_version(db, path)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path}: written by a newer kvlab (schema {version}, this one knows "
            f"{len(MIGRATIONS)}); upgrade kvlab or choose another file with --db"
        )
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        with transaction(db, path):
            step(db)
            db.execute("INSERT INTO schema_version VALUES (?)", [number])


def schema_version(db: DuckDBPyConnection, path: str) -> int:
    """The number of the last step applied; 0, and the table made, in an empty database."""
    tables = {name for (name,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if tables and "schema_version" not in tables:
        raise StoreError(
            f"{path}: a DuckDB database that kvlab did not make; choose another file with --db"
        )
    db.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
    row = db.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchone()
    return int(row[0]) if row else 0


OBSERVED = """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY, scenario TEXT NOT NULL, yaml TEXT NOT NULL, seed BIGINT NOT NULL,
        versions JSON NOT NULL, status TEXT NOT NULL, started_at TIMESTAMP NOT NULL,
        wall_s DOUBLE, virtual_s DOUBLE);
    CREATE TABLE arms (
        run TEXT NOT NULL, arm INTEGER NOT NULL, name TEXT NOT NULL, settings JSON NOT NULL,
        sessions INTEGER NOT NULL, history_digest TEXT NOT NULL, wall_s DOUBLE NOT NULL,
        virtual_s DOUBLE NOT NULL, stalled TEXT, PRIMARY KEY (run, arm), UNIQUE (run, name));
    CREATE TABLE sessions (
        run TEXT NOT NULL, arm INTEGER NOT NULL, session INTEGER NOT NULL,
        replies_due INTEGER NOT NULL, first_sent_s DOUBLE, last_done_s DOUBLE);
    CREATE TABLE turns (
        run TEXT NOT NULL, arm INTEGER NOT NULL, session INTEGER NOT NULL,
        turn INTEGER NOT NULL, expected_text TEXT NOT NULL, expected_call JSON NOT NULL);
    CREATE TABLE replies (
        run TEXT NOT NULL, arm INTEGER NOT NULL, position INTEGER NOT NULL,
        session INTEGER NOT NULL, turn INTEGER NOT NULL, due BOOLEAN NOT NULL,
        status TEXT NOT NULL, finish_reason TEXT, raw_text TEXT, content TEXT, reasoning TEXT,
        tool_calls TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
        sent_s DOUBLE NOT NULL, first_token_s DOUBLE, done_s DOUBLE, request_id TEXT,
        error TEXT);
    CREATE TABLE counters (
        run TEXT NOT NULL, arm INTEGER NOT NULL, name TEXT NOT NULL, value BIGINT NOT NULL);
    CREATE TABLE events (
        run TEXT NOT NULL, arm INTEGER NOT NULL, position INTEGER NOT NULL,
        at_ns BIGINT NOT NULL, kind TEXT NOT NULL, fields JSON NOT NULL);
"""
CONCLUDED = """
    CREATE TABLE findings (
        run TEXT NOT NULL, arm INTEGER NOT NULL, position INTEGER NOT NULL,
        session INTEGER NOT NULL, turn INTEGER NOT NULL, detector TEXT NOT NULL,
        outcome TEXT NOT NULL, detail TEXT NOT NULL, kind TEXT NOT NULL);
    CREATE TABLE verdicts (
        run TEXT NOT NULL, arm INTEGER NOT NULL, judged_at TIMESTAMP NOT NULL,
        sessions INTEGER NOT NULL, sessions_corrupt INTEGER NOT NULL,
        replies_due INTEGER NOT NULL, replies_corrupt INTEGER NOT NULL,
        unfinished INTEGER NOT NULL, rate DOUBLE NOT NULL, ci95_low DOUBLE NOT NULL,
        ci95_high DOUBLE NOT NULL, outcomes JSON NOT NULL, violations JSON NOT NULL,
        exposure JSON NOT NULL, verdict TEXT NOT NULL, expected TEXT, reason TEXT NOT NULL);
    CREATE TABLE comparisons (
        run TEXT NOT NULL, position INTEGER NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL,
        test TEXT NOT NULL, p_value DOUBLE NOT NULL, difference_low DOUBLE NOT NULL,
        difference_high DOUBLE NOT NULL);
"""


@migration
def m001_initial(db: DuckDBPyConnection) -> None:
    """Runs, their arms, what each arm left, and what was concluded.

    ``arm`` is the arm's place in its run, ``position`` a row's place in its arm, from 0. Times in
    seconds of the arm's clock unless they say ``_ns``; ``started_at`` and ``judged_at`` are UTC.
    ``tool_calls`` is text: a corrupt reply may hold JSON that no JSON column accepts.
    """
    db.execute(OBSERVED)
    db.execute(CONCLUDED)


@migration
def m002_expected_violations(db: DuckDBPyConnection) -> None:
    """The violations that the scenario wants to see; verdicts of before never asked for any."""
    db.execute("ALTER TABLE verdicts ADD COLUMN expected_violations JSON DEFAULT '[]'")


@migration
def m003_asked(db: DuckDBPyConnection) -> None:
    """How a run was asked for, what that makes of its expectations, and its pools' mismatches."""
    db.execute("ALTER TABLE runs ADD COLUMN asked JSON DEFAULT '{}'")
    db.execute("ALTER TABLE verdicts ADD COLUMN caveat TEXT DEFAULT ''")
    db.execute("ALTER TABLE verdicts ADD COLUMN mismatches JSON DEFAULT '[]'")


@migration
def m004_rooms(db: DuckDBPyConnection) -> None:
    """The rooms of disaggregated arms, and their pages' digests: one row a stage.

    ``place`` is a row's place in its arm, from 0; ``position`` a page's place in its request.
    ``room_pages`` sets the two sides of a page beside each other. Of a page that a side digested
    more than once (it was computed again) the last counts. What arrived and was never sent is not
    equal; ``equal`` is NULL where nothing arrived.
    """
    db.execute(
        """
        ALTER TABLE arms ADD COLUMN timeout_s DOUBLE;
        ALTER TABLE replies ADD COLUMN tries INTEGER DEFAULT 1;
        ALTER TABLE verdicts ADD COLUMN late_writes JSON DEFAULT '[]';
        CREATE TABLE rooms (
            run TEXT NOT NULL, arm INTEGER NOT NULL, place INTEGER NOT NULL, room BIGINT NOT NULL,
            request BIGINT NOT NULL, rank INTEGER NOT NULL, prompt INTEGER NOT NULL,
            prefill JSON NOT NULL, decode JSON NOT NULL, chunks INTEGER NOT NULL,
            moved_bytes JSON NOT NULL, flash_bytes BIGINT NOT NULL, outcome TEXT NOT NULL,
            why TEXT NOT NULL, released_s DOUBLE, drained_s DOUBLE);
        CREATE TABLE room_digests (
            run TEXT NOT NULL, arm INTEGER NOT NULL, place INTEGER NOT NULL, room BIGINT NOT NULL,
            stage TEXT NOT NULL, pool TEXT NOT NULL, layer INTEGER NOT NULL,
            position INTEGER NOT NULL, page INTEGER NOT NULL, digest BIGINT NOT NULL,
            rank INTEGER NOT NULL);
        CREATE VIEW room_pages AS
            SELECT *, CASE WHEN dst_digest IS NOT NULL
                THEN src_digest IS NOT DISTINCT FROM dst_digest END AS equal
            FROM (
                SELECT run, arm, rank, room, pool, layer, position,
                    arg_max(page, place) FILTER (stage = 'post_store') AS src_page,
                    arg_max(page, place) FILTER (stage = 'post_transfer') AS dst_page,
                    arg_max(digest, place) FILTER (stage = 'post_store') AS src_digest,
                    arg_max(digest, place) FILTER (stage = 'post_transfer') AS dst_digest
                FROM room_digests
                GROUP BY run, arm, rank, room, pool, layer, position);
        """
    )


@migration
def m005_faults(db: DuckDBPyConnection) -> None:
    """Faults beside violations, what rooms failed of, and when a reply was asked for first.

    Verdicts of before had faults among the violations, which are taken apart, and sentences for
    late writes, which are dropped: `kvlab judge` finds them again.
    """
    db.execute("ALTER TABLE replies ADD COLUMN first_sent_s DOUBLE")
    db.execute("ALTER TABLE verdicts ADD COLUMN faults JSON DEFAULT '{}'")
    db.execute("ALTER TABLE verdicts ADD COLUMN room_failures JSON DEFAULT '{}'")
    counted = db.execute("SELECT run, arm, name FROM counters WHERE name LIKE 'fault:%'").fetchall()
    faults = {(run, arm, name.removeprefix("fault:")) for run, arm, name in counted}
    for run, arm, text in db.execute("SELECT run, arm, violations FROM verdicts").fetchall():
        found = json.loads(text)
        apart = {name: n for name, n in found.items() if (run, arm, name) in faults}
        left = {name: n for name, n in found.items() if name not in apart}
        db.execute(
            "UPDATE verdicts SET violations = ?, faults = ?, late_writes = '[]'"
            " WHERE run = ? AND arm = ?",
            [json.dumps(left), json.dumps(apart), run, arm],
        )


@migration
def m006_bisections(db: DuckDBPyConnection) -> None:
    """Bisections and their trials.

    ``position`` is a trial's place in its bisection, from 0, in the order in which they ended;
    ``probe`` the number of the probe that it belongs to, NULL until that is complete; ``trial`` the
    index of its seed: no configuration has one twice.
    """
    db.execute(
        """
        CREATE TABLE bisections (
            id TEXT PRIMARY KEY, scenario TEXT NOT NULL, yaml TEXT NOT NULL, seed BIGINT NOT NULL,
            method TEXT NOT NULL, options JSON NOT NULL, versions JSON NOT NULL,
            status TEXT NOT NULL, started_at TIMESTAMP NOT NULL, verdict JSON);
        CREATE TABLE trials (
            bisection TEXT NOT NULL, position INTEGER NOT NULL, probe INTEGER, phase TEXT,
            config JSON NOT NULL, trial BIGINT NOT NULL, seed BIGINT NOT NULL,
            sessions INTEGER NOT NULL, corrupt INTEGER NOT NULL, unknown TEXT NOT NULL,
            verdict TEXT NOT NULL, violations JSON NOT NULL, faults JSON NOT NULL,
            exposure JSON NOT NULL, reach JSON NOT NULL, digest TEXT NOT NULL,
            wall_s DOUBLE NOT NULL);
        """
    )


@migration
def m007_streams(db: DuckDBPyConnection) -> None:
    """How a streamed reply came: its last part, the gaps between its parts, the tiers that its
    prompt was cached in; and of a reply that failed, the text that came, as it was cut.
    """
    db.execute(
        """
        ALTER TABLE replies ADD COLUMN last_token_s DOUBLE;
        ALTER TABLE replies ADD COLUMN gaps_ms JSON DEFAULT '{}';
        ALTER TABLE replies ADD COLUMN cached_tiers JSON DEFAULT '{}';
        ALTER TABLE replies ADD COLUMN chunks TEXT DEFAULT '[]';
        """
    )


@migration
def m008_misses(db: DuckDBPyConnection) -> None:
    """What a model of unknown texts missed, apart from what is corrupt, and the arm that it is held
    against; how many sessions show nothing. Verdicts of before counted misses as corrupt, and every
    session: `kvlab judge` finds them again.
    """
    db.execute(
        """
        ALTER TABLE verdicts ADD COLUMN sessions_silent INTEGER DEFAULT 0;
        ALTER TABLE verdicts ADD COLUMN sessions_missed INTEGER DEFAULT 0;
        ALTER TABLE verdicts ADD COLUMN replies_missed INTEGER DEFAULT 0;
        ALTER TABLE verdicts ADD COLUMN missed JSON DEFAULT '{}';
        ALTER TABLE verdicts ADD COLUMN control TEXT DEFAULT '';
        """
    )


@migration
def m009_rules(db: DuckDBPyConnection) -> None:
    """By which rules a verdict was found, 0 where they are older than their number; the interval of
    what was missed, and how surely two arms differ where misses count as well.
    """
    db.execute(
        """
        ALTER TABLE verdicts ADD COLUMN rules INTEGER DEFAULT 0;
        ALTER TABLE verdicts ADD COLUMN missed_low DOUBLE DEFAULT 0.0;
        ALTER TABLE verdicts ADD COLUMN missed_high DOUBLE DEFAULT 1.0;
        ALTER TABLE comparisons ADD COLUMN p_value_missed DOUBLE;
        ALTER TABLE comparisons ADD COLUMN missed_low DOUBLE;
        ALTER TABLE comparisons ADD COLUMN missed_high DOUBLE;
        """
    )
