"""A bisection in sentences, the same in the terminal and in markdown.

One rule: a rate never stands without its units, and a verdict not without what to do next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lab.copies import PATH, CopyPath, copy_paths, never_ran
from lab.report import words
from lab.scenario.problem import spell
from lab.stats import clopper_pearson

Document = Mapping[str, Any]
WITH = {1: "with it", 2: "with both", 3: "with all three"}
WITHOUT = {1: "without it", 2: "with either one good"}
SHOWN, WAITS = 8, 4  # sets and reasons that are named before the rest is only counted


def headline(told: Document) -> str:
    """The verdict, which toggles, and the rates that it rests on, in one sentence."""
    if told["culprits"]:
        return f"{told['verdict']}: {culprits(told)}; {with_and_without(told)}"
    if told["verdict"] == "UNDETERMINED" and told["candidates"]:
        left = f"{len(told['candidates'])} sets of toggles are left"
        return f"{told['verdict']}: {left}; {ends(told)}"
    return f"{told['verdict']}: {told['reason']}"


def subline(told: Document) -> str:
    """The reason, where the headline has the rates instead; else empty."""
    names = ", ".join(it["toggle"] for it in told["culprits"])
    reason = str(told["reason"]).removeprefix(f"{names}: ")
    return "" if headline(told).endswith(reason) else reason


def culprits(told: Document) -> str:
    """``index_k=bf16 and graph=true together``."""
    named = [f"{it['toggle']}={said(it['bad'])}" for it in told["culprits"]]
    if len(named) == 1:
        return named[0]
    return f"{', '.join(named[:-1])} and {named[-1]} together"


def with_and_without(told: Document) -> str:
    """``12 of 64 sessions with both, 0 of 264 with either one good``."""
    many = len(told["culprits"])
    bad = of(told["with_culprits"], f" {told['unit']}s {WITH.get(many, 'with all of them')}")
    without = WITHOUT.get(many, "with any of them good")
    return f"{bad}, {of(told['without_culprits'], ' ' + without)}"


def ends(told: Document) -> str:
    """What all bad and all good showed, of every phase."""
    bad = of(
        counted(told, every_bad(told)), f" {told['unit']}s {told['outcome']} with every toggle bad"
    )
    return f"{bad}, {of(counted(told, {}), ' with every toggle good')}"


def every_bad(told: Document) -> dict[str, Any]:
    """The settings of the configuration with all toggles bad."""
    return {it["toggle"]: it["bad"] for it in told["toggles"]}


def counted(told: Document, toggles: Mapping[str, Any], *phases: str) -> list[int]:
    """Corrupt units and units of one configuration, of some phases or all."""
    asked = [
        it["units"]
        for it in told["probes"]
        if it["toggles"] == toggles and (not phases or it["phase"] in phases)
    ]
    return [sum(corrupt for corrupt, _ in asked), sum(units for _, units in asked)]


def of(count: Sequence[int], what: str = "") -> str:
    """``12 of 64``, and of what."""
    return f"{count[0]} of {count[1]}{what}"


def bracket(found: Document) -> str:
    """Where a knob turns; never a point."""
    clean, bad = found["clean_below"], found["bad_above"]
    if bad is None:
        tried = f"{found['toggle']}: clean at every level that was tried"
        return f"{tried}, up to {level(found, clean)}"
    if clean is None:
        tried = f"{found['toggle']}: corrupt at every level that was tried"
        return f"{tried}, down to {level(found, bad)}"
    turns = f"{found['toggle']} turns between {level(found, clean)} and {level(found, bad)}"
    return turns if found["monotone"] else f"{turns}; not for good: a level beyond is clean again"


def level(found: Document, value: Any) -> str:
    """A level with what was seen there: ``3 (clean: 0 of 19, below 17.6 %)``."""
    seen = [(it["corrupt"], it["units"]) for it in found["steps"] if it["level"] == value]
    corrupt, units = seen[0] if seen else (0, 0)
    if corrupt:
        return f"{said(value)} (corrupt: {of((corrupt, units))})"
    below = f": 0 of {units}, below {words.percent(clopper_pearson(0, units)[1])}" if units else ""
    return f"{said(value)} (clean{below})"


def waits(told: Document) -> list[str]:
    """Why trials showed nothing: who waits for what, the commonest reason first."""
    reasons = Counter(why for probe in told["probes"] for why in probe["unknown"])
    found = [f"{why} (probes: {n})" for why, n in reasons.most_common(WAITS)]
    more = len(reasons) - len(found)
    return [*found, f"and {more} reasons more"] if more > 0 else found


def unreached(told: Document) -> str:
    """The copy paths between tiers that were never taken with all bad."""
    paths = never_ran(paths_of(told["reach"]["culprit"]))
    return f"copy paths without a call: {'; '.join(paths)}" if paths else ""


def paths_of(reach: Mapping[str, int]) -> list[CopyPath]:
    """Calls by ``pool:operation:branch:layout`` as copy paths: those that the counters name."""
    return copy_paths({f"{PATH}{name}": calls for name, calls in reach.items()})


def named(keys: Sequence[str]) -> str:
    """A set of toggles."""
    return " + ".join(keys) or "no toggle"


def said(value: Any) -> str:
    """A setting as YAML spells it, words without quotes."""
    return value if isinstance(value, str) else spell(value)


def share(counts: Sequence[int]) -> str:
    """``18.8 (12 of 64)``: percent and the counts; a dash of none."""
    corrupt, units = counts
    return f"{words.number(corrupt / units)} ({of(counts)})" if units else "–"
