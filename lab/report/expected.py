"""What a scenario would run, for a person. One rule: every part ends with the command for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report.grid import Fitted
from lab.scenario.problem import spell

Document = Mapping[str, Any]


def expected_report(told: Document) -> RenderableType:
    """What it is about, its arms, its toggles, its sweep, and how long each takes."""
    return Group(*_head(told), *_run(told), *_sweep(told), *_bisect(told), *_notes(told))


def _head(told: Document) -> Iterator[RenderableType]:
    yield Text(f"{told['scenario']}: {told['about'] or told['path']}", style="bold")
    load = told["workload"]
    yield Text(f"target    {told['target']}, by the {told['clock']} clock")
    yield Text(f"build     {', '.join(told['build']) or 'nothing known to be wrong'}")
    yield Text(f"workload  {load['kind']}, {load['preset']}: {load['turns']} turns a session")
    yield Text(f"time      {told['time_from']}\n")


def _run(told: Document) -> Iterator[RenderableType]:
    if (run := told["run"]) is None:
        return
    booted = any(arm["boot"] for arm in run["arms"])
    differ = list(run["arms"][0]["settings"])
    heads = ("arm", *(("boot",) if booted else ()), "sessions", *differ, "expected")
    rows = [
        (
            arm["name"],
            *((str(arm["boot"]),) if booted else ()),
            str(arm["sessions"]),
            *(spell(arm["settings"][key]).strip("'") for key in differ),
            arm["expected"] or "–",
        )
        for arm in run["arms"]
    ]
    yield Fitted(heads, rows, ("expected",))
    if run["alike"]:
        alike = ", ".join(f"{key}={spell(value)}" for key, value in run["alike"].items())
        yield Text(f"in every arm: {alike}")
    yield _cost(f"kvlab run {told['path']}", run)


def _sweep(told: Document) -> Iterator[RenderableType]:
    if (sweep := told["sweep"]) is None:
        return
    levels = ", ".join(f"{level:g}" for level in sweep["levels"])
    yield Text(f"one arm a level of {sweep['toggle']}: {levels}")
    yield _cost(f"kvlab sweep {told['path']}", sweep)


def _bisect(told: Document) -> Iterator[RenderableType]:
    if (found := told["bisect"]) is None:
        return
    rows = [
        (key, spell(flip["bad"]).strip("'"), spell(flip["good"]).strip("'"))
        for key, flip in found["toggles"].items()
    ]
    yield Fitted(("toggle", "bad", "good"), rows)
    least, most = found["least"], found["budget"]
    yield Text(
        f"kvlab bisect {told['path']}: {found['sessions_a_trial']} sessions a trial, {least} for an"
        f" arm that stays clean ({_time(found['minutes_least'])}), {most} at most"
        f" ({_time(found['minutes_budget'])}); with --plan it says what to expect\n"
    )


def _notes(told: Document) -> Iterator[RenderableType]:
    yield from (Text(f"note: {said}") for said in told["notes"])


def _cost(command: str, of: Document) -> Text:
    boots = f" on {of['boots']} boot{'s' if of['boots'] > 1 else ''}" if of["boots"] else ""
    return Text(f"{command}: {of['sessions']} sessions{boots}, {_time(of['minutes'])}\n")


def _time(minutes: float | None) -> str:
    if minutes is None:
        return "nobody knows how long"
    return f"about {minutes:.0f} min" if minutes >= 1.5 else f"about {60 * minutes:.0f} s"
