"""Rooms and digests come back as they were saved, and each page's two sides side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import duckdb
import pytest

from engine.disagg.records import RoomDigest
from lab.records import ArmHistory, LateWrite
from lab.store import Difference, RoomPages, migrations, open_results
from lab.store.migrations import MIGRATIONS
from tests.lab.disaggregated import digests, disaggregated, room
from tests.lab.samples import history, run_verdict

STORED = RoomDigest(7, "post_store", "c4", 0, 0, 11, 5)
LANDED = STORED._replace(stage="post_transfer", page=21)
FAULTS, FAILED = {"no_progress": 2}, {"timed out in WaitingForInput": 7}
SPENT_S = 3.0  # of the processor's time, ten times what it takes: row by row it is minutes
MOST, LEAST = 2**63 - 1, -(2**63)


def pages(digests: Sequence[RoomDigest], arm: str = "pd") -> Any:
    """What the store makes of these digests, by rank and room, and the rows of its view."""
    made = replace(history("pd"), digests=list(digests))
    with open_results(Path(":memory:")) as results:
        run = results.begin_run("any", "", 0, {})
        results.save_arm(run, history("plain"))
        results.save_arm(run, made)
        rows = results.db.execute(
            "SELECT room, pool, layer, position, src_page, dst_page, src_digest, dst_digest, equal"
            " FROM room_pages ORDER BY ALL"
        ).fetchall()
        return results.room_pages(run, arm), rows


def saved(arm: ArmHistory, path: Path = Path(":memory:")) -> ArmHistory:
    """The arm as the store gives it back."""
    with open_results(path) as results:
        run = results.begin_run("any", "", 0, {})
        results.save_arm(run, arm)
        (back,) = results.histories(run)
        return back


def test_rooms_and_digests_equal_what_was_saved(tmp_path: Path) -> None:
    arm = disaggregated("pd")
    still_open = replace(room(9), outcome="open", decode={"Bootstrapping": 9.25}, prefill={})
    arm.rooms.append(still_open)
    assert saved(arm, tmp_path / "lab.duckdb") == arm


def test_digests_keep_their_order_and_every_bit() -> None:
    wide = [STORED._replace(room=MOST, digest=LEAST, rank=1), LANDED, STORED._replace(digest=MOST)]
    arm = replace(history("pd"), digests=wide)
    back = saved(arm).digests
    assert back == wide
    assert all(isinstance(value, int | str) for digest in back for value in digest)


def test_an_arm_without_rooms_has_none() -> None:
    back = saved(history("plain"))
    assert (back.rooms, back.digests, back.timeout_s) == ([], [], None)


def test_a_page_s_two_sides_stand_in_one_row() -> None:
    found, rows = pages([STORED, LANDED])
    assert rows == [(7, "c4", 0, 0, 11, 21, 5, 5, True)]
    assert found == {(0, 7): RoomPages(1, 0, None)}


def test_a_page_with_one_side_is_not_compared() -> None:
    found, rows = pages([STORED])
    assert rows == [(7, "c4", 0, 0, 11, None, 5, None, None)]
    assert found == {(0, 7): RoomPages(0, 0, None)}


def test_the_first_difference_is_the_one_at_the_least_position() -> None:
    made = [it for at in (4, 2, 3) for it in (STORED._replace(position=at), changed(at))]
    found, _ = pages(made)
    assert found == {(0, 7): RoomPages(3, 3, Difference(2, "c4", 0, 11, 21))}


def changed(at: int) -> RoomDigest:
    """The page at that position, landed with other bytes."""
    return LANDED._replace(position=at, digest=6)


@pytest.mark.parametrize("field", ["room", "layer", "position", "rank"])
def test_only_sides_of_the_same_page_are_compared(field: str) -> None:
    found, rows = pages([STORED, LANDED._replace(**{field: 9})])
    assert [row[-1] for row in rows] == [None, False]
    assert sum(it.different for it in found.values()) == 1


def test_what_arrived_and_was_never_sent_differs() -> None:
    found, _ = pages([LANDED])
    assert found == {(0, 7): RoomPages(1, 1, Difference(0, "c4", 0, None, 21))}


def test_of_a_page_that_was_computed_again_the_last_digest_counts() -> None:
    again = STORED._replace(page=12, digest=6)
    found, rows = pages([STORED, again, LANDED._replace(digest=6)])
    assert rows == [(7, "c4", 0, 0, 12, 21, 6, 6, True)]
    assert found[0, 7].different == 0


def test_arms_do_not_see_each_other_s_pages() -> None:
    found, _ = pages([STORED, LANDED], arm="plain")
    assert found == {}


def test_late_writes_faults_and_failures_of_a_verdict_are_kept() -> None:
    arm = disaggregated("pd")
    verdict = run_verdict("", [arm], {"pd": 0})
    told = (LateWrite(41, 57, "request 1057", "kv", "page", 12, 3, 256),)
    with open_results(Path(":memory:")) as results:
        run = results.begin_run("any", "", 0, {})
        results.save_arm(run, arm)
        judged = replace(verdict.arms[0], late_writes=told, faults=FAULTS, room_failures=FAILED)
        results.save_verdict(run, replace(verdict, run=run, arms=(judged,)), {})
        assert results.verdict(run).arms[0] == judged


def test_faults_of_verdicts_of_before_are_taken_from_among_the_violations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list(MIGRATIONS)
    monkeypatch.setattr(migrations, "MIGRATIONS", whole[:4])
    with duckdb.connect(str(tmp_path / "lab.duckdb")) as db:
        migrations.migrate(db, "lab.duckdb")
        db.execute("INSERT INTO runs VALUES ('r', 's', '', 0, '{}', 'done', now(), 1, 2, '{}')")
        db.execute("INSERT INTO arms VALUES ('r', 0, 'a', '{}', 3, 'd', 1, 2, NULL, NULL)")
        db.execute("INSERT INTO counters VALUES ('r', 0, 'fault:no_progress', 2)")
        db.execute(
            "INSERT INTO verdicts (run, arm, judged_at, sessions, sessions_corrupt, replies_due,"
            " replies_corrupt, unfinished, rate, ci95_low, ci95_high, outcomes, violations,"
            " exposure, verdict, reason, late_writes) VALUES ('r', 0, now(), 1, 0, 1, 0, 0, 0, 0,"
            """ 1, '{}', '{"room_bytes_differ": 1, "no_progress": 2}', '{}', 'corrupt', '',"""
            """ '["room 2 into room 5"]')"""
        )
    monkeypatch.setattr(migrations, "MIGRATIONS", whole)
    with open_results(tmp_path / "lab.duckdb") as results:
        (arm,) = results.verdict("r").arms
    assert (arm.violations, arm.faults) == ({"room_bytes_differ": 1}, {"no_progress": 2})
    assert (arm.late_writes, arm.room_failures) == ((), {})


def test_a_file_of_before_rooms_opens_and_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list(MIGRATIONS)
    monkeypatch.setattr(migrations, "MIGRATIONS", whole[:3])
    with duckdb.connect(str(tmp_path / "lab.duckdb")) as db:
        migrations.migrate(db, "lab.duckdb")
        db.execute("INSERT INTO runs VALUES ('r', 's', '', 0, '{}', 'done', now(), 1, 2, '{}')")
        db.execute("INSERT INTO arms VALUES ('r', 0, 'a', '{}', 3, 'd', 1, 2, NULL)")
    monkeypatch.setattr(migrations, "MIGRATIONS", whole)
    with open_results(tmp_path / "lab.duckdb") as results:
        (arm,) = results.histories("r")
        assert (arm.rooms, arm.digests, arm.timeout_s) == ([], [], None)
        assert results.room_pages("r", "a") == {}


def test_a_reference_arm_s_digests_cost_little_to_store_and_to_read(
    tmp_path: Path,
) -> None:
    many = [it for n in range(2000) for it in digests(room(n))]
    arm = replace(history("pd"), digests=many)
    assert len(many) == 36_000
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("any", "", 0, {})
        began = process_time()
        results.save_arm(run, arm)
        assert results.histories(run) == [arm]
        assert len(results.room_pages(run, "pd")) == 2000
        assert process_time() - began < SPENT_S
