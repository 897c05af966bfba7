"""One stored run, looked at from near. One rule: it reads, and concludes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.commands.output import console, show, show_json
from lab.copies import copy_paths, stored_geometry
from lab.ended import verdict_of
from lab.errors import StoreError
from lab.joins import turns_of
from lab.report.document import run_document, shown_document
from lab.report.replies import Case, badness, failed_replies, show_replies
from lab.report.rooms import legend, of_session, rooms_document, rooms_view
from lab.report.views import arm_view, run_view
from lab.rooms import Seen
from lab.scenario.problem import did_you_mean
from lab.store import RoomPages

if TYPE_CHECKING:
    from lab.records import ArmHistory
    from lab.store import Results

NO_PAGES = RoomPages(0, 0, None)


def inspect(results: Results, run: str, arm: str | None, session: int | None, limit: int) -> None:
    """Print the run, or one arm of it, and the replies that went wrong."""
    stored = results.run(run)
    _known(stored.arms, arm)
    verdict = verdict_of(results, run) if stored.verdicts else None
    histories = results.histories(run, arm)
    if arm is None:
        show(run_view(stored, verdict, histories))
    else:
        judged = {found.name: found for found in verdict.arms} if verdict else {}
        show(arm_view(histories[0], stored, judged.get(arm)))
    if verdict is not None:
        shown = show_replies(
            results, run, session, console=console(), limit=limit, histories=histories
        )
        if shown:
            which = "N" if session is None else session
            show(f"`kvlab explain {run}{results.where} --session {which}` says why")


def inspect_json(
    results: Results, run: str, arm: str | None, session: int | None, limit: int
) -> None:
    """The same as one document: the run, its arms, the failed replies with what failed in them."""
    stored = results.run(run)
    _known(stored.arms, arm)
    findings = results.findings(run)
    histories = results.histories(run, arm)
    cases = [
        case
        for history in histories
        for case in failed_replies(history, findings.get(history.name, ()))
        if session in (None, case.reply.session)
    ]
    worst = sorted(cases, key=badness)[:limit]
    failed = [_case(case) for case in (cases if session is not None else worst)]
    about = shown_document(stored, histories, results.verdict(run) if stored.verdicts else None)
    show_json({**about, "failed": failed, **_tiers(histories)})


def inspect_rooms(
    results: Results, run: str, arm: str | None, session: int | None, limit: int
) -> None:
    """Print the rooms of each arm, or of one, the worst first, and last what the columns mean; or
    that no arm is stored.
    """
    stored = results.run(run)
    if not stored.arms:
        show(f"run {run} ({stored.status}): no arm is stored, so it has no rooms.")
    tables = 0
    for history, rooms in _rooms(results, run, arm):
        show(rooms_view(history, rooms, limit, session))
        tables += bool(limit and of_session(rooms, session))
    if tables:
        show(legend())


def inspect_rooms_json(
    results: Results, run: str, arm: str | None, session: int | None, limit: int
) -> None:
    """The same as one document: the run, and its arms with their rooms in all and one by one."""
    found = [rooms_document(*seen, limit, session) for seen in _rooms(results, run, arm)]
    stored = results.run(run)
    judged = zip(stored.arms, stored.verdicts, strict=False)
    verdicts = [verdict for name, verdict in judged if arm in (None, name)]
    show_json({**run_document(stored), "arms": found, "verdicts": verdicts})


def _rooms(results: Results, run: str, arm: str | None) -> Iterator[tuple[ArmHistory, list[Seen]]]:
    """Each arm with its rooms, what became of their pages, and whose they were."""
    _known(results.run(run).arms, arm)
    for history in results.histories(run, arm):
        pages, turns = results.room_pages(run, history.name), turns_of(history)
        rooms = [
            Seen(it, pages.get((it.rank, it.room), NO_PAGES), *turns.get(it.room, ()))
            for it in history.rooms
        ]
        yield history, rooms


def _tiers(histories: Sequence[ArmHistory]) -> dict[str, Any]:
    """Copy paths and geometry rows, each with the arm that it is of."""
    return {
        "paths": [
            {"arm": found.name, **asdict(path)}
            for found in histories
            for path in copy_paths(found.counters)
        ],
        "geometry": [
            {"arm": found.name, **row} for found in histories for row in stored_geometry(found)
        ],
    }


def _case(case: Case) -> dict[str, Any]:
    found = [{"detector": f.detector, "kind": f.kind, "detail": f.detail} for f in case.failed]
    of = {"room": case.room, "hit_by": list(case.hit_by)}
    return {"arm": case.arm, "findings": found, "reply": asdict(case.reply), **of}


def _known(arms: tuple[str, ...], arm: str | None) -> None:
    if arm is not None and arm not in arms:
        accepted = ", ".join(repr(name) for name in arms)
        raise StoreError(f"--arm {arm}: no such arm; accepted: {accepted}{did_you_mean(arm, arms)}")
