"""What a bisection saw: counters, copy paths, who waits, which sets are left; as cells.

One rule: the culprits' side stands beside the other one, and zeros are shown where they are proof.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from lab.report import words
from lab.report.bisection_words import SHOWN, named, paths_of, unreached, waits
from lab.report.origin import UNKNOWN
from lab.report.section import Section
from lab.report.table import ALWAYS, HOST, SOMETIMES

Document = Mapping[str, Any]
# The counters of exposure that a run's tables show, too.
EXPOSURE = frozenset({*ALWAYS, *SOMETIMES, *HOST}) - {"load_wait_us", "virtual_s"}
SILENT = ("NOT-REPRODUCED", "INVALID")  # verdicts for which what was never reached is the news


def evidence(told: Document) -> Section:
    """What went wrong and how far it reached, culprits all bad beside one good; JSON has all."""
    sides = ("culprit", "cleared")
    kinds = {
        "violation": dict(zip(sides, (told["evidence"], told["evidence_cleared"]), strict=True)),
        "fault": told["faults"],
        "exposure": told["exposure"],
    }
    rows = [
        (kind, name, *(f"{counts[side].get(name, 0):,}" for side in sides))
        for kind, counts in kinds.items()
        for name in sorted({*counts["culprit"], *counts["cleared"]})
        if (kind != "exposure" or name in EXPOSURE)
        and (
            any(counts[side].get(name) for side in sides)
            or (kind == "exposure" and told["verdict"] in SILENT)
        )
    ]
    names = ("all culprits bad", "one good") if told["culprits"] else ("all bad", "some good")
    heads = [
        f"{name},\n{told['seen'][side]['sessions']} sessions"
        for name, side in zip(names, sides, strict=True)
    ]
    return Section("What was seen", ("kind", "counter", *heads), tuple(rows), ("counter",))


def reach(told: Document) -> Section:
    """Which copies between tiers ran, where nothing went wrong: a zero is the proof."""
    paths = paths_of(told["reach"]["culprit"]) if told["verdict"] in SILENT else []
    calls: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for path in paths:
        calls[path.branch, path.operation, path.layout][path.pool] = path.calls
    rows = tuple(
        (*key, ", ".join(f"{pool} {n}" for pool, n in pools.items()), str(sum(pools.values())))
        for key, pools in calls.items()
    )
    heads = ("copy path", "operation", "layout", "calls by pool", "calls")
    never = unreached(told) if paths else ""
    lines = (never,) if never else ()
    return Section("Reached with every toggle bad", heads, rows, ("calls by pool",), lines)


def waiting(told: Document) -> Section:
    """Why trials showed nothing, where that is the verdict."""
    lines = waits(told)
    stuck = told["verdict"] == "LIVENESS" or told["outcome"] == "wedged"
    title = "Who waits for what" if stuck else "Trials that show nothing"
    return Section(title, lines=tuple(lines))


def candidates(told: Document) -> Section:
    """The sets that are left, with what is believed of them, where no set was found."""
    if told["culprits"] or not told["candidates"]:
        return Section("Sets left")
    last = told["beliefs"][-1]["sets"] if told["beliefs"] else []
    believed = {tuple(keys): p for keys, p in last}
    rows = tuple(
        (named(some), words.number(believed[tuple(some)]) if tuple(some) in believed else UNKNOWN)
        for some in told["candidates"][:SHOWN]
    )
    more = len(told["candidates"]) - SHOWN
    lines = (f"and {more} sets more",) if more > 0 else ()
    return Section("Sets left", ("set", "posterior %"), rows, (), lines)
