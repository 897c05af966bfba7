"""A run as plain markdown, to be pasted into a bug report.

One rule: it holds what a reader needs to judge and to repeat the run: n, intervals, settings,
digests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab.copies import by_pool, copy_paths, stored_geometry
from lab.report import words
from lab.report.origin import origin
from lab.report.pd import pd_lines
from lab.report.servers import servers
from lab.report.sweeps import sweep_lines
from lab.report.table import exposure_heads, host_heads, told
from lab.report.tiers import MISMATCH

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, RunVerdict
    from lab.store import StoredRun

GEOMETRY = ("pool", "tier", "order", "page_tokens", "entries", "item_bytes", "layers", "pages")
COPIES = ("pool", "operation", "branch", "layout", "calls", "rows", "unit")


def markdown(
    verdict: RunVerdict,
    stored: StoredRun | None = None,
    histories: Sequence[ArmHistory] = (),
    figures: Sequence[str] = (),
) -> str:
    """The whole report; ends with a newline.

    ``stored`` says where the run comes from, ``histories`` what its arms copied between tiers,
    ``figures`` which images lie beside the report.
    """
    parts = [
        f"# {verdict.scenario}: run {verdict.run}",
        words.headline(verdict),
        "## Rates",
        rates(verdict),
        "\n".join(f"- {line}" for line in notes(verdict)),
        "## Exposure",
        exposure(verdict.arms),
        "## What went wrong",
        wrong(verdict.arms),
        *host_tiers(histories),
        *foreign(histories),
        *(["## Figures", *map(image, figures)] if figures else []),
        "## To repeat it",
        *([repeat(stored)] if stored is not None else []),
        f"Seed {verdict.seed}; {words.took(verdict)}.",
        settings(verdict.arms),
    ]
    return "\n\n".join(parts) + "\n"


def notes(verdict: RunVerdict) -> list[str]:
    """One line an arm, one for the rooms of each, and one for each pool unlike in both tiers."""
    said = [words.note(verdict, arm) for arm in verdict.arms]
    said += [*sweep_lines(verdict.arms), *pd_lines(verdict.arms)]
    return [*said, *words.geometry_lines(verdict.arms)]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table; bars inside cells are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
    )


def image(file: str) -> str:
    """A figure, shown from the report's own folder."""
    return f"![{file.rpartition('.')[0]}]({file})"


def rates(verdict: RunVerdict) -> str:
    """One row an arm, as in the terminal."""
    rows = []
    for index, arm in enumerate(verdict.arms):
        p = words.p_against_first(verdict, arm)
        rows.append(
            [
                arm.name,
                f"{arm.sessions_corrupt}/{arm.sessions}",
                words.percent(arm.rate),
                f"{words.interval(arm.ci95)} %",
                "first" if index == 0 else "–" if p is None else words.p_value(p),
                f"{arm.replies_corrupt}/{arm.replies_due}",
                str(arm.unfinished),
                arm.verdict,
                words.expected_word(arm),
            ]
        )
    heads = ["arm", "corrupt sessions", "rate", "Wilson 95 %", "Fisher p vs first"]
    return table([*heads, "corrupt replies/due", "unfinished", "verdict", "as expected"], rows)


def exposure(arms: Sequence[ArmVerdict]) -> str:
    """The exposure counters of the terminal's tables, in one."""
    heads = exposure_heads(arms)
    if not heads:
        return "No arm counted any."
    heads = heads | host_heads(arms)
    rows = [[arm.name, *(told(arm, key) for key in heads)] for arm in arms]
    return table(["arm", *(key.replace("_wait_us", "_wait_s") for key in heads)], rows)


def wrong(arms: Sequence[ArmVerdict]) -> str:
    """Outcome classes, violations and faults of every arm."""
    rows = [
        [arm.name, *map(words.tally, (arm.outcomes, arm.violations, arm.faults))] for arm in arms
    ]
    return table(["arm", "corrupt replies by class", "violations", "faults"], rows)


def foreign(histories: Sequence[ArmHistory]) -> list[str]:
    """Somebody's servers: their settings, their streams and their failures; nothing of our own."""
    return [
        part
        for section in servers(histories)
        for part in (f"## {section.title}", table(section.heads, section.rows))
    ]


def host_tiers(histories: Sequence[ArmHistory]) -> list[str]:
    """What is not the same in both tiers, and the copies that ran; nothing where none did."""
    sizes = [
        [arm.name, *(plain(row.get(key, "–")) for key in GEOMETRY), _agrees(row)]
        for arm in histories
        for tiers in by_pool(stored_geometry(arm)).values()
        if MISMATCH in map(_agrees, tiers.values())
        for row in tiers.values()
    ]
    copies = [
        [arm.name, *(str(getattr(path, key)) for key in COPIES)]
        for arm in histories
        for path in copy_paths(arm.counters)
        if path.calls
    ]
    found = [
        *([table(["arm", *GEOMETRY, "agrees"], sizes)] if sizes else []),
        *([table(["arm", *COPIES], copies)] if copies else []),
    ]
    return ["## Host tiers", *found] if found else []


def _agrees(row: Mapping[str, Any]) -> str:
    return "yes" if row.get("agrees", True) else MISMATCH


def repeat(stored: StoredRun) -> str:
    """The command as it was typed, the code under test, the load and the versions."""
    told = origin(stored).lines()
    command = told.pop("command")
    lines = [f"- {what}: {text}" for what, text in told.items()]
    return "\n".join([f"```sh\n{command}\n```\n", *lines])


def settings(arms: Sequence[ArmVerdict]) -> str:
    """Each arm's effective settings and history digest."""
    rows = []
    for arm in arms:
        said = ", ".join(f"{key}={plain(value)}" for key, value in arm.settings.items())
        rows.append([arm.name, f"`{said}`", f"`{arm.history_digest}`"])
    return table(["arm", "effective settings", "history digest"], rows)


def plain(value: object) -> str:
    """A setting's value as a scenario file spells it."""
    return value if isinstance(value, str) else json.dumps(value)
