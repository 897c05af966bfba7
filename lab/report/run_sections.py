"""The tables of a run, as cells: the markdown and the page lay them out.

One rule: what is alike in every arm is said once, and a table has only what differs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab.copies import by_pool, copy_paths, stored_geometry
from lab.repeats import whole
from lab.report import words
from lab.report.repeats import boot, notes
from lab.report.section import Section
from lab.report.table import exposure_heads, host_heads, told
from lab.report.tiers import MISMATCH

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, RunVerdict

GEOMETRY = ("pool", "tier", "order", "page_tokens", "entries", "item_bytes", "layers", "pages")
MISSED = ("missed sessions", "missed %", "missed 95 %", "raw p with missed")
COPIES = ("pool", "operation", "branch", "layout", "calls", "rows", "unit")
RATES = (
    *("arm", "corrupt sessions", "rate", "Wilson 95 %", "raw Fisher p vs first"),
    *("corrupt replies/due", "unfinished", "verdict", "as expected"),
)


def rates(verdict: RunVerdict) -> Section:
    """One row an arm, as in the terminal, a repeated one with all of its repetitions; what n proves
    below.
    """
    shown, rows = whole(verdict), []
    missed = MISSED if any(arm.sessions_missed for arm in shown.arms) else ()
    booted = ["boot"] if any(arm.boot for arm in shown.arms) else []
    for arm in shown.arms:
        cells = (
            arm.name,
            *(boot(arm) for _ in booted),
            f"{arm.sessions_corrupt}/{arm.sessions_judged}",
            words.percent(arm.rate),
            f"{words.interval(arm.ci95)} %",
            words.p_cell(shown, arm),
            *(words.missed_cells(shown, arm) if missed else ()),
            f"{arm.replies_corrupt}/{arm.replies_due}",
            str(arm.unfinished),
            arm.verdict,
            words.expected_word(arm),
        )
        rows.append(cells)
    heads = (RATES[0], *booted, *RATES[1:5], *missed, *RATES[5:])
    return Section("Rates", heads, tuple(rows), ("arm",), tuple(notes(verdict)))


def exposure(arms: Sequence[ArmVerdict]) -> Section:
    """The exposure counters of the terminal's tables, in one; those of no arm are named below."""
    heads = exposure_heads(arms)
    if not heads:
        return Section("Exposure", lines=("No arm counted any.",))
    heads = heads | host_heads(arms)
    rows = tuple((arm.name, *(told(arm, key) for key in heads)) for arm in arms)
    return Section(
        "Exposure", ("arm", *(key.replace("_wait_us", "_wait_s") for key in heads)), rows
    )


def wrong(arms: Sequence[ArmVerdict]) -> Section:
    """Outcome classes, violations and faults of every arm; what was missed where anything was."""
    missed = ["missed replies by class"] if any(arm.missed for arm in arms) else []
    rows = tuple(
        (
            arm.name,
            *map(words.tally, (arm.outcomes, arm.violations, arm.faults)),
            *(words.tally(arm.missed) for _ in missed),
        )
        for arm in arms
    )
    heads = ("arm", "corrupt replies by class", "violations", "faults", *missed)
    return Section("What went wrong", heads, rows, heads)


def unlike_tiers(histories: Sequence[ArmHistory]) -> Section:
    """The pools that are not the same in both tiers, a row a tier."""
    rows = tuple(
        (arm.name, *cells)
        for arm in histories
        for tiers in by_pool(stored_geometry(arm)).values()
        if MISMATCH in map(_agrees, tiers.values())
        for cells in map(_geometry, tiers.values())
    )
    return Section("Host tiers", ("arm", *GEOMETRY, "agrees"), rows)


def geometry(histories: Sequence[ArmHistory]) -> list[Section]:
    """Every pool of every tier; the arms whose pools are alike share a table."""
    alike: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for arm in histories:
        rows = tuple(
            cells
            for tiers in by_pool(stored_geometry(arm)).values()
            for cells in map(_geometry, tiers.values())
        )
        if rows:
            alike.setdefault(rows, []).append(arm.name)
    every = [", ".join(f'"{name}"' for name in names) for names in alike.values()]
    titles = ["every arm"] if len(alike) == 1 else every
    heads = (*GEOMETRY, "agrees")
    return [Section(title, heads, rows) for title, rows in zip(titles, alike, strict=True)]


def copies(histories: Sequence[ArmHistory]) -> Section:
    """The copies between tiers that ran, by arm and branch."""
    rows = tuple(
        (arm.name, *(str(getattr(path, key)) for key in COPIES))
        for arm in histories
        for path in copy_paths(arm.counters)
        if path.calls
    )
    return Section("Copies between tiers", ("arm", *COPIES), rows)


def settings(arms: Sequence[ArmVerdict]) -> Section:
    """The effective settings: what every arm has, and by arm what differs; with its digest."""
    common = shared(arms)
    rows = tuple(
        (arm.name, f"`{spelt(own(arm, common)) or 'nothing else'}`", f"`{arm.history_digest}`")
        for arm in arms
    )
    lines = (f"every arm: `{spelt(common)}`",) if common else ()
    heads = ("arm", "settings of its own", "history digest")
    return Section("Effective settings", heads, rows, heads[1:2], lines)


def shared(arms: Sequence[ArmVerdict]) -> dict[str, Any]:
    """The settings that are one value in every arm."""
    first = arms[0].settings if arms else {}
    return {
        key: value
        for key, value in first.items()
        if all(key in arm.settings and arm.settings[key] == value for arm in arms)
    }


def own(arm: ArmVerdict, common: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an arm that others have not, or have another value of."""
    return {key: value for key, value in arm.settings.items() if key not in common}


def spelt(values: Mapping[str, Any]) -> str:
    """``graph=true, index_k=bf16``."""
    return ", ".join(f"{key}={plain(value)}" for key, value in values.items())


def plain(value: object) -> str:
    """A setting's value as a scenario file spells it."""
    return value if isinstance(value, str) else json.dumps(value)


def _geometry(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (*(plain(row.get(key, "–")) for key in GEOMETRY), _agrees(row))


def _agrees(row: Mapping[str, Any]) -> str:
    return "yes" if row.get("agrees", True) else MISMATCH
