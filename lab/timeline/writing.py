"""A run's trace as a file, and what is in it.

One rule: arms are drawn one by one, from the same zero; where there are several, each has processes
of its own, named after it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.errors import StoreError, UserError
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

NAME = "timeline.json"


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
    histories = _chosen(results.histories(run), arm, session, run)
    trace = Trace()
    arms = tuple(
        _draw(trace, history, findings.get(history.name, ()), session, len(histories) > 1)
        for history in histories
    )
    about = {"run": run, "scenario": stored.scenario, "seed": str(stored.seed), "time": "virtual"}
    about |= {f"digest of {history.name}": history.history_digest for history in histories}
    path = out or folder_of(run, results.path, None) / NAME
    _write(path, {"displayTimeUnit": "ms", "otherData": about, "traceEvents": trace.events})
    return Written(run, path, arms)


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


def _chosen(
    histories: Sequence[ArmHistory], arm: str | None, session: int | None, run: str
) -> list[ArmHistory]:
    """The arms that are asked for and had the session."""
    names = [history.name for history in histories]
    if not names:
        raise StoreError(f"run {run}: no arm is stored, so there is nothing to draw")
    if arm is not None and arm not in names:
        accepted = ", ".join(map(repr, names))
        raise StoreError(
            f"--arm {arm}: no such arm; accepted: {accepted}{did_you_mean(arm, names)}"
        )
    named = [history for history in histories if arm in (None, history.name)]
    found = [it for it in named if session is None or _sent(it, session)]
    if not found:
        raise StoreError(f"--session {session}: no such session, or it sent nothing; run {run}")
    return found


def _sent(history: ArmHistory, session: int) -> bool:
    return any(it.session == session and it.status != "not_sent" for it in history.replies)


def _write(path: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.encode("utf-8", "backslashreplace").decode(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
