"""Tables of `kvlab runs` and `kvlab show`: what is stored, one run's outcomes, one arm's counters.

One rule: a value that is not known is a dash, never a zero.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from lab.copies import copy_paths, others, stored_geometry
from lab.report import words
from lab.report.table import COLOURS, plain_table
from lab.report.tiers import geometry_table, paths_table

if TYPE_CHECKING:
    from rich.table import Table

    from lab.records import ArmHistory, RunVerdict
    from lab.store import StoredRun


def runs_table(runs: Sequence[StoredRun]) -> RenderableType:
    """The stored runs, the newest first."""
    if not runs:
        return Text("No run yet; `kvlab run SCENARIO` makes one.")
    table = plain_table(
        *("run", "scenario", "seed", "status", "arms", "wall s", "verdicts"),
        text=("scenario", "status", "verdicts"),
    )
    for run in reversed(runs):
        wall = "–" if run.wall_s is None else f"{run.wall_s:.1f}"
        verdicts = words.tally(Counter(run.verdicts)) if run.verdicts else "not judged"
        arms = str(len(run.arms))
        table.add_row(run.id, Text(run.scenario), str(run.seed), run.status, arms, wall, verdicts)
    return table


def outcomes_table(verdict: RunVerdict) -> RenderableType:
    """Corrupt replies by outcome class, one column an arm."""
    names = sorted({name for arm in verdict.arms for name, n in arm.outcomes.items() if n})
    if not names:
        return Text("No corrupt reply in any arm.")
    table = plain_table("corrupt replies by class", *(arm.name for arm in verdict.arms))
    for name in names:
        table.add_row(name, *(str(arm.outcomes.get(name, 0)) for arm in verdict.arms))
    table.add_section()
    table.add_row("corrupt replies", *(str(arm.replies_corrupt) for arm in verdict.arms))
    table.add_row("replies due", *(str(arm.replies_due) for arm in verdict.arms))
    return table


def run_view(stored: StoredRun, verdict: RunVerdict | None) -> RenderableType:
    """One run: how it ended, its verdicts, and its outcome classes once it is judged."""
    head = f"{stored.id}: {stored.scenario}, seed {stored.seed}, {stored.status}"
    began = f"began {stored.started_at:%Y-%m-%d %H:%M:%S} UTC"
    versions = ", ".join(f"{name} {version}" for name, version in stored.versions.items())
    lines = Text(f"{head}\n", style="bold").append(f"{began}; {versions}", style="not bold dim")
    if verdict is None:
        stored_arms = ", ".join(f'"{name}"' for name in stored.arms) or "none"
        return Group(lines, Text(f"Not judged. Arms stored: {stored_arms}."))
    verdicts = Text("\n").join(
        Text.assemble(f"{arm.name}: ", (arm.verdict, COLOURS.get(arm.verdict, "magenta")))
        for arm in verdict.arms
    )
    return Group(lines, Text(words.headline(verdict)), verdicts, outcomes_table(verdict))


def arm_view(history: ArmHistory) -> RenderableType:
    """One arm: effective settings, how its replies ended, counters, copy paths and geometry."""
    ends = Counter(
        reply.status if reply.status != "ok" else f"ok, {reply.finish_reason}"
        for reply in history.replies
    )
    head = Text(f"{history.name}: {history.sessions} sessions\n", style="bold")
    head.append(f"{history.history_digest}\n", style="not bold dim")
    if history.stalled:
        head.append(f"wedged: {history.stalled}\n", style="red")
    settings = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in history.settings.items()
    }
    return Group(
        head,
        pairs("setting", "value", settings),
        pairs("replies ended", "times", {key: str(n) for key, n in sorted(ends.items())}),
        pairs("counter", "value", {key: str(n) for key, n in others(history.counters).items()}),
        *([paths_table(paths)] if (paths := copy_paths(history.counters)) else []),
        *([geometry_table(rows)] if (rows := stored_geometry(history)) else []),
    )


def pairs(left: str, right: str, values: dict[str, str]) -> Table:
    """A table of two columns."""
    table = plain_table(left, right)
    for key, value in values.items():
        table.add_row(Text(key), Text(value))
    return table
