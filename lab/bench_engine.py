"""The bundled engine end to end: tokens a second in decode and in prefill, with captured graphs and
without, and which kernels a decode step is made of.

Rule: rates come from runs that nothing watches, of an arm that ran once before, by the wall's clock
and a device that was waited for; shares come from runs of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from rich import box
from rich.console import Group
from rich.table import Table

from lab.bench_window import STEPS, Window
from lab.errors import TargetError, UserError
from lab.kernel_bench.device import described
from lab.scenario.loader import parse_scenario
from lab.targets import failure
from lab.toggles.device import DEVICE
from lab.trial import run_arm

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lab.records import ArmHistory
    from lab.scenario.models import Arm, Scenario

# a pool in which every session has room, and no shadow memory: what is measured is serving
LOAD = """
name: engine
clock: wall
workload: {{kind: tool_sessions, preset: {preset}, sessions: {sessions}, turns: 1}}
engine:
  device: {device}
  concurrency: {sessions}
  pool_pages: {pages}
  graph_max_bs: {sessions}
  ledger: "off"
arms: [{{name: graph on, graph: true}}, {{name: graph off, graph: false}}]
"""
PAGES = 32  # a session: 8,192 tokens
SHOWN = 16  # kernels in the table; the document has all
Tick = Callable[[int, int], None]
Span = Mapping[str, Any]


def load(sessions: int, device: str, preset: str = "reference") -> Scenario:
    """`sessions` requests at once; their first arm with graphs, their second without. Raises
    UserError where no device has such a name.
    """
    try:
        TypeAdapter(DEVICE.domain.type).validate_python(device)
    except ValidationError:
        accepted = DEVICE.domain.words
        raise UserError(f"--device: {device!r} is not accepted; accepted: {accepted}") from None
    pages = PAGES * (sessions + 2)
    text = LOAD.format(sessions=sessions, device=device, preset=preset, pages=pages)
    return parse_scenario(text, "engine")


def measure(scenario: Scenario, tick: Tick, steps: int = STEPS, seed: int = 0) -> dict[str, Any]:
    """Of each arm a run that compiles, a timed one and a watched one.

    Raises ``TargetError`` where the engine dies.
    """
    arms, found = scenario.arms, list[dict[str, Any]]()
    due = count(1)
    for arm in arms:
        _run(scenario, arm, seed)
        tick(next(due), 3 * len(arms))
    for arm in arms:
        found.append({"name": arm.name} | rates(_run(scenario, arm, seed)))
        tick(next(due), 3 * len(arms))
    for arm, each in zip(arms, found, strict=True):
        each |= watched(scenario, arm, each, steps, seed)
        tick(next(due), 3 * len(arms))
    device = str(scenario.settings(arms[0])["device"])
    about = described() | ({"device": "cpu"} if device == "cpu" else {})
    return about | {"sessions": scenario.sessions(arms[0]), "arms": found}


def rates(history: ArmHistory) -> dict[str, Any]:
    """Tokens a second of decode, from the first to the last full step with all that the host does
    in between but prefill, and of prefill's steps; milliseconds of a full step (median); seconds of
    the whole run, and of it before the first step and after the last event.
    """
    spans = [fields for _, kind, fields in history.events if kind == "span"]
    steps = {name: [it for it in spans if it["name"] == name] for name in ("decode", "prefill")}
    most = max((it["rows"] for it in steps["decode"]), default=0)
    full = [_seconds(it) for it in steps["decode"] if it["rows"] == most]
    prefill_s = sum(map(_seconds, steps["prefill"]))
    prefilled = sum(it["tokens"] for it in steps["prefill"])
    began_s = min((it["start_us"] for it in spans), default=0) / 1e6
    ended_s = max((at for at, _, _ in history.events), default=0) / 1e9
    return {
        "decode_rows": most,
        "decode_step_ms": 1e3 * median(full) if full else 0.0,
        "decode_tokens_per_s": _decode_rate(steps["decode"], steps["prefill"], most),
        "prefill_tokens": prefilled,
        "prefill_tokens_per_s": prefilled / prefill_s if prefill_s else None,
        "wall_s": history.wall_s,
        "start_up_s": max(0.0, history.wall_s - (ended_s - began_s)),
    }


def _decode_rate(decode: Sequence[Span], prefill: Sequence[Span], most: int) -> float | None:
    """Tokens a second between the start of the first step of `most` rows and the end of the last;
    steps of prefill in between are taken out.
    """
    full = [it for it in decode if it["rows"] == most]
    if not full:
        return None
    start, end = full[0]["start_us"], full[-1]["end_us"]
    inside = [it for it in (*decode, *prefill) if start <= it["start_us"] and it["end_us"] <= end]
    spent_s = (end - start) / 1e6 - sum(_seconds(it) for it in inside if it["name"] == "prefill")
    tokens = sum(it["rows"] for it in inside if it["name"] == "decode")
    return float(tokens / spent_s) if spent_s > 0 else None


def watched(
    scenario: Scenario, arm: Arm, timed: Mapping[str, Any], steps: int, seed: int
) -> dict[str, Any]:
    """What a decode step consists of: `device_ms` in which anything ran on the device, each moment
    once; `busy` is its part of an unwatched step.
    """
    device = str(scenario.settings(arm)["device"])
    window = Window(device, rows=max(1, timed["decode_rows"]), steps=steps)
    run_arm(scenario, arm, seed, watch=window)
    shares = window.shares()
    device_ms, step_ms = sum(it.ms for it in shares), timed["decode_step_ms"]
    return {
        "watched_steps": window.steps,
        "watched_prefills": window.prefills,
        "device_ms": device_ms,
        "busy": device_ms / step_ms if step_ms and device != "cpu" else None,
        "kernels": [asdict(it) for it in shares],
    }


def table(document: Mapping[str, Any]) -> RenderableType:
    """Rates of each arm, then the kernels of a decode step, the largest of the first arm first."""
    arms = document["arms"]
    title = f"{document['device']}: {document['sessions']} requests at once"
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    made.add_column("")
    for arm in arms:
        made.add_column(arm["name"], justify="right")
    for said, key in ROWS.items():
        made.add_row(said, *(_number(arm[key]) for arm in arms))
    return Group(made, kernels(document), NOTES)


ROWS = {
    "decode, tokens/s": "decode_tokens_per_s",
    "decode step, ms": "decode_step_ms",
    "rows of it": "decode_rows",
    "of it on the device, ms": "device_ms",
    "prefill, tokens/s": "prefill_tokens_per_s",
    "whole run, s": "wall_s",
    "of it start-up and end, s": "start_up_s",
}
NOTES = """\
decode: tokens from the first to the last full step over the time between, scheduling included and
prefill taken out; a step: the median of full ones; on the device: the union of what ran there in
watched steps; prefill: its tokens over the time of its steps"""


def kernels(document: Mapping[str, Any]) -> Table:
    """Share of the time of a decode step, and milliseconds, by name."""
    made = Table(title="a decode step", title_justify="left", box=box.SIMPLE_HEAD)
    made.add_column("operation" if document["device"] == "cpu" else "kernel")
    for arm in document["arms"]:
        made.add_column(f"{arm['name']}: share", justify="right", no_wrap=True)
        made.add_column("ms", justify="right", no_wrap=True)
        made.add_column("calls", justify="right", no_wrap=True)
    sides = [{it["name"]: it for it in arm["kernels"]} for arm in document["arms"]]
    for name in list(dict.fromkeys(name for side in sides for name in side))[:SHOWN]:
        cells = [cell for side in sides for cell in _cells(side.get(name))]
        made.add_row(name, *cells)
    return made


def _cells(share: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if share is None:
        return "", "", ""
    return f"{share['share']:.1%}", f"{share['ms']:.4f}", f"{share['calls']:.1f}"


def _run(scenario: Scenario, arm: Arm, seed: int) -> ArmHistory:
    history = run_arm(scenario, arm, seed)
    if why := failure(history):
        raise TargetError(f"arm {arm.name!r}: {why}")
    return history


def _seconds(span: Span) -> float:
    return float(span["end_us"] - span["start_us"]) / 1e6


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
