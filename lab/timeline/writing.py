"""A run's trace as a file, and what is in it.

One rule: arms are read, drawn and written one by one, from the same zero; where there are several,
each has processes of its own, named after it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EISDIR
from os import strerror
from typing import TYPE_CHECKING, Any, TextIO

from lab.errors import StoreError, UserError
from lab.records import NO_DIGEST
from lab.running import folder_of
from lab.scenario.problem import did_you_mean
from lab.timeline.arrows import draw_arrows
from lab.timeline.counters import draw_counters
from lab.timeline.instants import draw_instants
from lab.timeline.scene import Scene
from lab.timeline.sessions import draw_sessions
from lab.timeline.spans import draw_spans, has_spans
from lab.timeline.trace import Trace

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import ArmHistory, Finding
    from lab.store import Results


@dataclass(frozen=True)
class Arm:
    """How much of an arm was drawn. ``told`` says whether its engine told any spans."""

    name: str
    spans: int
    turns: int
    instants: int
    arrows: int
    told: bool


@dataclass(frozen=True)
class Written:
    """A trace that was written: the file, its run, and its arms."""

    run: str
    path: Path
    arms: tuple[Arm, ...]


def write_timeline(
    results: Results, run: str, arm: str | None, session: int | None, out: Path | None
) -> Written:
    """Write a run's trace to ``out``, by default into the run's folder.

    Raises ``StoreError`` for an arm or a session that there is not, ``UserError`` for a file that
    cannot be written.
    """
    stored, findings = results.run(run), results.findings(run)
    names = _chosen(results, run, arm, session)
    about = {"run": run, "scenario": stored.scenario, "seed": str(stored.seed), "time": "virtual"}
    path = out or folder_of(run, results.path, None) / _name(session)
    arms: list[Arm] = []
    with _opened(path) as file:
        trace = Trace()
        file.write('{"displayTimeUnit":"ms","traceEvents":[')
        for name in names:
            (history,) = results.histories(run, name)
            about[f"digest of {name}"] = history.history_digest
            about["time"] = "wall" if history.history_digest == NO_DIGEST else "virtual"
            arms.append(_draw(trace, history, findings.get(name, ()), session, len(names) > 1))
            file.writelines(_texts(trace.taken(), first=len(arms) == 1))
        file.write(f'],"otherData":{_text(about)}}}')
    return Written(run, path, tuple(arms))


def _name(session: int | None) -> str:
    """The file by default; a session's has its own, so that it leaves the whole one as it was."""
    return "timeline.json" if session is None else f"timeline-session-{session}.json"


def _draw(
    trace: Trace,
    history: ArmHistory,
    findings: Sequence[Finding],
    session: int | None,
    several: bool,
) -> Arm:
    scene = Scene(trace, history, findings, f"{history.name}: " if several else "", session)
    spans = draw_spans(scene)
    instants, arrows = draw_instants(scene), draw_arrows(scene, spans)
    draw_counters(scene)
    turns = draw_sessions(scene)
    return Arm(history.name, len(spans), turns, instants, arrows, has_spans(scene))


def _chosen(results: Results, run: str, arm: str | None, session: int | None) -> list[str]:
    """The arms that are asked for and had the session."""
    names = results.arms(run)
    if not names:
        raise StoreError(f"run {run}: no arm is stored, so there is nothing to draw")
    if arm is not None and arm not in names:
        accepted = ", ".join(map(repr, names))
        raise StoreError(
            f"--arm {arm}: no such arm; accepted: {accepted}{did_you_mean(arm, names)}"
        )
    found = results.arms(run, arm, session)
    if not found:
        raise StoreError(f"--session {session}: no such session, or it sent nothing; run {run}")
    return found


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """A file that is there when all of it is written, in place of what was there."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(EISDIR, strerror(EISDIR))
        try:
            with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
                yield file
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error


def _texts(events: Iterable[Mapping[str, Any]], *, first: bool) -> Iterator[str]:
    """Events as the members of one list, the first of which has nothing before it."""
    for event in events:
        yield _text(event) if first else f",{_text(event)}"
        first = False


def _text(tree: Mapping[str, Any]) -> str:
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
