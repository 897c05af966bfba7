"""`kvlab replay RUN SESSION`, step by step. One rule: each step is told as soon as it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab import interrupts
from lab.progress import RunProgress
from lab.replaying.bundle import check_free, pack
from lab.replaying.case import find
from lab.replaying.course import Course
from lab.replaying.history import told
from lab.replaying.naming import file_of
from lab.replaying.shortening import TRIES
from lab.replaying.trying import shorten
from lab.replaying.words import sentences
from lab.running import folder_of
from lab.store import DEFAULT_DB
from lab.trial import run_arm
from lab.versions import versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lab.replaying.case import Case
    from lab.replaying.history import Difference
    from lab.store import Results

Part = dict[str, Any]


@dataclass(frozen=True)
class Wish:
    """What is asked for. ``bundle`` is a folder to be made, ``out`` where the scenario goes."""

    session: int
    arm: str | None = None
    tries: int = TRIES
    shorten: bool = True
    bundle: Path | None = None
    out: Path | None = None


def replay_session(results: Results, run: str, wish: Wish) -> Iterator[Part]:
    """The parts of the document: the case and where it stopped, what was shortened, the bundle.

    Nothing is shortened of a run that goes another way. Raises `LabError`.
    """
    check_free(wish.bundle)
    case = find(results, run, wish.session, wish.arm)
    stopped = stop(case)
    yield {**case.about(), **stopped}
    file = None
    if wish.shorten and stopped["differs"] is None:
        arms = [arm.name for arm in case.scenario.arms]
        name = file_of(wish.session, case.arm.name, arms)
        file = folder_of(run, results.path, wish.out) / name
        short = shorten(case, wish.tries, file)
        file = file if short["scenario"] else None
        yield {"shortened": {**short, "db": _db(results)}}
    if wish.bundle is not None:
        pack(case, stopped["stopped"], wish.bundle, file)
        yield {"bundle": str(wish.bundle)}


def _db(results: Results) -> str | None:
    """The database, where a command must name it."""
    return None if results.path == DEFAULT_DB else str(results.path)


def stop(case: Case) -> Part:
    """Run the arm to its stop: the event there, or where the run went another way."""
    events, at = case.history.events, case.stop.number
    course = Course(events, at)
    with interrupts.heard(), RunProgress() as progress:
        tick = progress.arm(case.arm.name, case.scenario.sessions(case.arm))
        ended = run_arm(case.scenario, case.arm, case.run.seed, tick, course)
        interrupts.check()
    if course.difference is not None:
        return {"stopped": None, "differs": parted(course.difference, case.run.versions)}
    at_ns, kind, fields = events[at]
    turn = case.stop.turn
    before = [found for _, found, its in events[:at] if not its.get("rank")]
    return {
        "stopped": {
            "at_s": at_ns / 1e9,
            "event": at,
            "events": len(events),
            "step": fields.get("step"),
            "prefill_steps": before.count("prefill"),
            "decode_steps": before.count("decode"),
            "kind": kind,
            "name": case.stop.name,
            "fields": fields,
            "says": sentences(fields),
            "session": turn.session if turn else None,
            "turn": turn.turn if turn else None,
            "concerns_the_session": case.stop.joined,
            "reply_wrong": case.reply_wrong,
            "failed_no_judge": case.failed_no_judge,
            "wrong_turn": case.stop.wrong,
            "joined_by": case.stop.how or None,
            "history_digest": ended.history_digest,
        },
        "differs": None,
    }


def parted(difference: Difference, stored: Mapping[str, Any]) -> Part:
    """Where a run went another way, and which versions are others than those that were stored."""
    here = versions()
    names = sorted({*stored, *here})
    changed = {it: [stored.get(it), here.get(it)] for it in names if stored.get(it) != here.get(it)}
    return {
        "event": (difference.was or difference.here or (0,))[0],
        "was": told(difference.was),
        "here": told(difference.here),
        "versions": changed,
    }
