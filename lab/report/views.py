"""Tables of `kvlab runs` and `kvlab show`: what is stored, one run's outcomes, one arm's counters.

One rule: a value that is not known is a dash, never a zero.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from lab.copies import BY_TOKEN, copy_paths, others, stored_geometry
from lab.mismatches import mismatches
from lab.report import words
from lab.report.endings import errors
from lab.report.grid import Fitted, plain_table
from lab.report.origin import origin
from lab.report.table import COLOURS
from lab.report.tiers import MISMATCH, geometry_table, paths_table
from lab.rooms import counted
from lab.tries import failed_tries

if TYPE_CHECKING:
    from rich.table import Table

    from lab.copies import CopyPath
    from lab.records import ArmHistory, ArmVerdict, RunVerdict
    from lab.store import StoredBisection, StoredRun


def runs_table(runs: Sequence[StoredRun]) -> RenderableType:
    """The stored runs, the newest first."""
    if not runs:
        return Text("No run yet; `kvlab run SCENARIO` makes one.")
    rows = []
    for run in reversed(runs):
        wall = "–" if run.wall_s is None else f"{run.wall_s:.1f}"
        verdicts = words.tally(Counter(run.verdicts)) if run.verdicts else "not judged"
        arms = str(len(run.arms))
        rows.append([run.id, run.scenario, str(run.seed), run.status, arms, wall, verdicts])
    heads = ("run", "scenario", "seed", "status", "arms", "wall s", "verdicts")
    return Fitted(heads, rows, text=("scenario", "status", "verdicts"))


def bisections_table(bisections: Sequence[StoredBisection]) -> RenderableType:
    """The stored bisections, the newest first."""
    rows = []
    for one in reversed(bisections):
        told = one.verdict
        named = [it["toggle"] for it in told["culprits"]] if told else []
        verdict = " ".join([told["verdict"], *named]) if told else "none"
        numbers = [str(one.trials), str(one.sessions), f"{one.wall_s:.1f}"]
        rows.append([one.id, one.scenario, str(one.seed), one.status, *numbers, verdict])
    heads = (
        "bisection",
        "scenario",
        "seed",
        "status",
        "trials",
        "sessions",
        "trials' s",
        "verdict",
    )
    return Fitted(heads, rows, text=("scenario", "status", "verdict"))


def outcomes_table(verdict: RunVerdict) -> RenderableType:
    """Corrupt replies by outcome class, then missed ones, one column an arm."""
    rows = _by_class([arm.outcomes for arm in verdict.arms], "")
    missed = _by_class([arm.missed for arm in verdict.arms], "missed: ")
    if not rows and not missed:
        return Text("No corrupt reply in any arm.")
    rows.append(["corrupt replies", *(str(arm.replies_corrupt) for arm in verdict.arms)])
    if missed:
        rows += [*missed, ["missed replies", *(str(arm.replies_missed) for arm in verdict.arms)]]
    rows.append(["replies due", *(str(arm.replies_due) for arm in verdict.arms)])
    return Fitted(["corrupt replies by class", *(arm.name for arm in verdict.arms)], rows)


def _by_class(counts: Sequence[Mapping[str, int]], before: str) -> list[list[str]]:
    names = sorted({name for arm in counts for name, n in arm.items() if n})
    return [[before + name, *(str(arm.get(name, 0)) for arm in counts)] for name in names]


def run_view(
    stored: StoredRun, verdict: RunVerdict | None, histories: Sequence[ArmHistory] = ()
) -> RenderableType:
    """One run: how it ended, its verdicts, and its outcome classes once it is judged.

    Of its arms' ``histories`` only what nobody must miss: tiers that do not agree, and copies that
    went token by token.
    """
    lines = head(stored, histories)
    if verdict is None:
        stored_arms = ", ".join(f'"{name}"' for name in stored.arms) or "none"
        unjudged = Text(f"Not judged. Arms stored: {stored_arms}.")
        return Group(lines, unjudged, *tier_lines(histories))
    verdicts = Text("\n").join(
        Text.assemble(f"{arm.name}: ", *verdict_words(arm)) for arm in verdict.arms
    )
    tiers = tier_lines(histories)
    return Group(lines, Text(words.headline(verdict)), verdicts, *tiers, outcomes_table(verdict))


def head(stored: StoredRun, histories: Sequence[ArmHistory] = ()) -> Text:
    """Run, scenario and seed, and where they come from: what a bug report begins with."""
    title = f"{stored.id}: {stored.scenario}, seed {stored.seed}, {stored.status}\n"
    began = f"{stored.started_at:%Y-%m-%d %H:%M:%S} UTC"
    about = {"began": began, **origin(stored, histories).lines()}
    said = "\n".join(f"{what}: {text}" for what, text in about.items())
    return Text(title, style="bold").append(f"{said}\n", style="not bold")


def tier_lines(histories: Sequence[ArmHistory]) -> list[Text]:
    """Mismatches between tiers, and copies by token, each with its arms."""
    wrong = words.by_arm({arm.name: mismatches(stored_geometry(arm)) for arm in histories})
    ran = words.by_arm({arm.name: by_token(copy_paths(arm.counters)) for arm in histories})
    return [
        *(Text(f"{MISMATCH}: {line}", style="bold red") for line in wrong),
        *(Text(f"{BY_TOKEN} ran: {line}") for line in ran),
    ]


def by_token(paths: Sequence[CopyPath]) -> list[str]:
    """``c4 load, 12 calls, 768 tokens``: the pools of which anything was copied by token."""
    return [
        f"{path.pool} {path.operation}, {path.calls:,} calls, {path.rows:,} {path.unit}"
        for path in paths
        if path.branch == BY_TOKEN and path.calls
    ]


def verdict_line(verdict: ArmVerdict) -> Text:
    """The arm's verdict and its reason, and what the scenario expected of it."""
    line = Text.assemble("verdict: ", *verdict_words(verdict))
    if verdict.expected:
        line.append(f"\nexpected {verdict.expected}: {words.expected_word(verdict)}")
    return line.append(f" ({verdict.caveat})\n" if verdict.caveat else "\n")


def verdict_words(verdict: ArmVerdict) -> tuple[tuple[str, str], str]:
    """The verdict in its colour, and its reason where it has one."""
    colour = COLOURS.get(verdict.verdict, "magenta")
    return (verdict.verdict, colour), f": {verdict.reason}" if verdict.reason else ""


def arm_view(
    history: ArmHistory, stored: StoredRun | None = None, verdict: ArmVerdict | None = None
) -> RenderableType:
    """One arm, fit for a bug report: its run's head, its verdict, effective settings, how its
    replies ended, counters, copy paths and geometry.
    """
    failed = errors(history)
    title = Text(f"{history.name}: {history.sessions} sessions\n", style="bold")
    title.append(f"{history.history_digest}\n", style="not bold dim")
    if verdict is not None:
        title.append(verdict_line(verdict))
    if history.stalled:
        title.append(f"wedged: {history.stalled}\n", style="red")
    settings = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in history.settings.items()
    }
    return Group(
        *([head(stored, [history])] if stored is not None else []),
        title,
        pairs("setting", "value", settings),
        pairs("replies ended", "times", _told(endings(history))),
        *([pairs("errors of tries", "times", _told(failed))] if failed else []),
        pairs("counter", "value", _told(others(counted(history)))),
        *([paths_table(paths)] if (paths := copy_paths(history.counters)) else []),
        *([geometry_table(rows)] if (rows := stored_geometry(history)) else []),
    )


def endings(history: ArmHistory) -> dict[str, int]:
    """How replies ended, by name, and at last how many tries failed and were asked again."""
    ends = Counter(
        reply.status if reply.status != "ok" else f"ok, {reply.finish_reason}"
        for reply in history.replies
    )
    again = len(failed_tries(history))
    return dict(sorted(ends.items())) | ({"failed, asked again": again} if again else {})


def _told(counts: Mapping[str, object]) -> dict[str, str]:
    return {key: str(n) for key, n in counts.items()}


def pairs(left: str, right: str, values: dict[str, str]) -> Table:
    """A table of two columns."""
    table = plain_table(left, right)
    for key, value in values.items():
        table.add_row(Text(key), Text(value))
    return table
