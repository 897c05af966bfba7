"""The tables of a bisection, as cells: the terminal and the markdown lay them out.

One rule: a table that has nothing to say is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.report import words
from lab.report.bisection_evidence import candidates, evidence, reach, waiting
from lab.report.bisection_next import what_next
from lab.report.bisection_untested import too_few
from lab.report.bisection_words import bracket, counted, every_bad, said, share
from lab.report.origin import UNKNOWN
from lab.report.section import Section
from lab.stats import clopper_pearson

Document = Mapping[str, Any]
COUNTED = "A row counts the trials of its own phase: reproduce, control, or confirm on fresh seeds."
OF_ALL = "A level counts the trials of all phases in which it ran, the culprits bad."
UNTESTED = "What was not tested"
ENOUGH = 1e6  # an e-value beyond it is only said to be beyond it


def sections(told: Document) -> list[Section]:
    """All that there is to say, in the order in which a reader asks."""
    open_ends = tuple(too_few(told))
    every = [
        toggles(told),
        arms(told),
        *(threshold(told, found) for found in told["thresholds"]),
        evidence(told),
        reach(told),
        waiting(told),
        candidates(told),
        Section("Also seen", lines=tuple(it for it in told["others"] if it not in open_ends)),
        Section("What is guaranteed", lines=tuple(told["guarantee"])),
        Section(UNTESTED, lines=open_ends),
        Section("What to do next", lines=tuple(what_next(told))),
        phases(told),
    ]
    return [section.lean() for section in every if section]


def toggles(told: Document) -> Section:
    """One row a toggle: its values, its role, and the rate with it bad and with it good."""
    heads = (
        "toggle",
        "bad",
        "good",
        "role",
        f"% bad\n({told['outcome']})",
        f"% good\n({told['outcome']})",
        "good 95 %",
    )
    culprits = [it["toggle"] for it in told["culprits"]]
    rows = [
        (
            f"{it['toggle']} *" if it["toggle"] in culprits else it["toggle"],
            said(it["bad"]),
            said(it["good"]),
            told["roles"].get(it["toggle"], UNKNOWN),
            share(it["units_bad"]),
            share(it["units_good"]),
            interval(it["units_good"]),
        )
        for it in told["toggles"]
    ]
    besides = ", the other culprits bad in both" if culprits else ""
    marked = "* a culprit. " if culprits else ""
    line = (
        f"{marked}{told['outcome'].capitalize()} {told['unit']}s with the toggle bad and with it"
        f" good{besides}; of all phases, so a description; intervals are Clopper-Pearson's."
    )
    if "INNOCENT" in told["roles"].values():
        line += " INNOCENT: not needed for it; a smaller change of its rate is not excluded."
    return Section("Toggles", heads, tuple(rows), ("role",), (line,))


def arms(told: Document) -> Section:
    """What was run on purpose: both ends, then the confirmation's arms on fresh seeds."""
    sure = f"{100 * (1 - told['parameters']['alpha']):g} %"
    heads = (
        "arm",
        f"{told['unit']}s",
        told["outcome"],
        "rate %",
        "95 %",
        f"bounds\n{sure}",
        "e-value",
    )
    rows = [
        _arm("reproduce: every toggle bad", counted(told, every_bad(told), "reproduce")),
        _arm("control: every toggle good", counted(told, {}, "control")),
    ]
    rows += [
        _arm(
            f"confirm: {it['name']}",
            (it["corrupt"], it["units"]),
            words.interval((it["lower"], it["upper"])),
            e_value(it["e_value"]),
        )
        for it in told["arms"]
    ]
    shown = tuple(row for row in rows if row[1] != "0")
    against = f"e-values say how much rarer than with all bad; {_bar(told):g} is enough."
    lines = (COUNTED, against) if told["arms"] else (COUNTED,)
    return Section("Arms", heads, shown, (), lines)


def threshold(told: Document, found: Document) -> Section:
    """A numeric knob, level by level."""
    heads = (found["toggle"], f"{told['unit']}s", told["outcome"], "rate %", "95 %")
    rows = tuple(
        _arm(said(it["level"]), (it["corrupt"], it["units"]))[: len(heads)] for it in found["steps"]
    )
    return Section(f"Threshold of {found['toggle']}", heads, rows, (), (bracket(found), OF_ALL))


def phases(told: Document) -> Section:
    """What each phase cost."""
    order = list(dict.fromkeys(probe["phase"] for probe in told["probes"]))
    rows = []
    for phase in order:
        asked = [probe for probe in told["probes"] if probe["phase"] == phase]
        trials = sum(len(probe["trials"]) for probe in asked)
        sums = [sum(probe[key] for probe in asked) for key in ("sessions", "corrupt")]
        rows.append((phase, str(len(asked)), str(trials), *map(str, sums)))
    heads = ("phase", "probes", "trials", "sessions", told["outcome"])
    spent = f"{told['sessions_spent']} of {told['budget']} sessions were driven"
    return Section("Sessions spent", heads, tuple(rows), (), (spent,))


def interval(counts: Sequence[int]) -> str:
    """Clopper-Pearson's 95 %; a dash of none."""
    corrupt, units = counts
    return words.interval(clopper_pearson(corrupt, units)) if units else UNKNOWN


def e_value(value: float | None) -> str:
    """Three digits at most: what is beyond a million is beyond doubt."""
    if value is None:
        return UNKNOWN
    return f">{ENOUGH:.0e}".replace("e+0", "e") if value > ENOUGH else f"{value:.3g}"


def _arm(
    name: str, counts: Sequence[int], bounds: str = UNKNOWN, evidence: str = UNKNOWN
) -> tuple[str, ...]:
    corrupt, units = counts
    rate = words.number(corrupt / units) if units else UNKNOWN
    return (name, str(units), str(corrupt), rate, interval(counts), bounds, evidence)


def _bar(told: Document) -> float:
    """What an e-value has to reach: the removals, and that the set suffices, share alpha."""
    removals = sum(arm["name"].startswith("without ") for arm in told["arms"])
    return float((removals + 1) / told["parameters"]["alpha"])
