"""The comparison of two runs for a terminal: the answer, then rates, exposure, times and changes.

One rule: a number that only one run has stands beside a dash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.comparing.sentence import alone, method, silent
from lab.report.grid import Fitted
from lab.report.words import p_value

MOST, CHARACTERS = 14, 60  # counters of a table; characters of a value
Document = Mapping[str, Any]


def report(document: Document) -> RenderableType:
    """All of it; what is the same is not shown."""
    head = Text(document["answer"], style="bold")
    about = "\n".join(f"{side.upper()}: {_about(document[side])}" for side in ("a", "b"))
    for run in document["judged_anew"]:
        about += (
            f"\n{run} was judged by older rules: judged anew here, `kvlab judge {run}` stores it"
        )
    arms = document["arms"]
    parts: list[RenderableType] = [head, Text(f"{about}\n", style="dim")]
    if arms:
        parts += [rates(arms), Text(_tests(arms), style="dim")]
        parts += [*counters(arms), *latencies(arms)]
    for name, what in (("only_in_a", "only in A"), ("only_in_b", "only in B")):
        if document[name]:
            parts.append(Text(f"{what}: {', '.join(document[name])}"))
    return Group(*parts, *changes(document))


def _about(side: Document) -> str:
    told = f"{side['run']}, {side['scenario']}, seed {side['seed']}, began {side['started_at']}"
    return f"{told} ({side['incomplete']})" if side["incomplete"] else told


def rates(arms: Sequence[Document]) -> Fitted:
    """One row a pair of arms; dashes where nothing was tested."""
    several = len(_tested(arms)) > 1
    ends, p = ("95 %, all\nat once", "p,\nHolm") if several else ("95 %", "p")
    heads = ("arm", "A", "B", "B - A,\npoints", ends, p, "A was", "B is", "digests")
    rows = [
        [
            arm["name"] + (f" / {arm['name_in_b']}" if "name_in_b" in arm else ""),
            *(_counts(arm[it]) for it in ("a", "b")),
            *_difference(arm),
            *(arm[it]["verdict"] for it in ("a", "b")),
            {True: "equal", False: "differ", None: "–"}[arm["same_history"]],
        ]
        for arm in arms
    ]
    return Fitted(heads, rows, text=("A was", "B is", "digests"))


def _tested(arms: Sequence[Document]) -> list[Document]:
    return [arm for arm in arms if arm["test"] is not None]


def _difference(arm: Document) -> tuple[str, str, str]:
    """Points, their interval and p."""
    if arm["test"] is None:
        return "–", "–", "–"
    ends = " to ".join(f"{100 * end:+.1f}" for end in arm["ci95"])
    return f"{100 * arm['difference']:+.1f}", ends, p_value(arm["p_holm"])


def _counts(side: Document) -> str:
    missed = f" + {side['sessions_missed']}" if side["sessions_missed"] else ""
    return f"{side['sessions_corrupt']}{missed} of {side['sessions']}"


def _tests(arms: Sequence[Document]) -> str:
    """Which tests and intervals, on how many pairs, what is corrected for, and who is alone."""
    known = _tested(arms)
    boots = any(max(arm["a"]["boots"], arm["b"]["boots"]) > 1 for arm in arms)
    what = "corrupt + missed" if any(arm["missed_too"] for arm in arms) else "corrupt"
    told = [f"sessions {what} of those that show anything", *(_methods(known) if known else [])]
    told += ["repetitions taken together, a boot each"] if boots else []
    lines = ["; ".join(told)]
    lines += [f"{arm['name']}: {alone(arm)}" for arm in known if alone(arm)]
    return "\n".join([*lines, *silent(arms), ""])


def _methods(known: Sequence[Document]) -> list[str]:
    pairs = [arm["pairs"] for arm in known if arm["pairs"] is not None]
    paired = f" ({min(pairs)} to {max(pairs)} pairs)" if pairs else ""
    many = len(known)
    tests = ", ".join(dict.fromkeys(arm["test"] for arm in known))
    intervals = ", ".join(dict.fromkeys(map(method, known)))
    holm, at_once = "", ""
    if many > 1:
        holm, at_once = f", Holm over {many} arms", f", Bonferroni over {many} arms"
    return [f"p: {tests}{paired}{holm}", f"95 %: {intervals} (1998){at_once}"]


def counters(arms: Sequence[Document]) -> list[RenderableType]:
    """Exposure, violations and outcomes that differ, A then B."""
    rows = [
        [f"{what}: {name}", arm["name"], _number(pair[0]), _number(pair[1])]
        for arm in arms
        for what in ("violations", "outcomes", "missed", "exposure")
        for name, pair in arm[what].items()
    ]
    if not rows:
        return [Text("Exposure, violations and outcomes are the same.\n")]
    more = len(rows) - MOST
    left = [Text(f"and {more} more; --json has all\n", style="dim")] if more > 0 else []
    return [Fitted(("what differs", "arm", "A", "B"), rows[:MOST], text=("arm",)), *left]


def latencies(arms: Sequence[Document]) -> list[RenderableType]:
    """Quantiles of the times with their n, B minus A with its interval; and how many replies have
    no time, where that differs.
    """
    rows = [
        [
            f"{arm['name']}: {name} {q}",
            *(f"{it[side]:.3f}" for side in ("a_s", "b_s")),
            " / ".join(map(str, dict.fromkeys(it["n"]))),
            f"{it['difference_s']:+.3f}",
            " to ".join(f"{end:+.3f}" for end in it["ci95_s"]),
            "pairs" if it["paired"] else "apart",
        ]
        for arm in arms
        for name, found in arm["latency"].items()
        for q, it in found.items()
    ]
    heads = (
        "seconds of the arm's clock",
        "A",
        "B",
        "replies",
        "B - A",
        "95 %, by session",
        "drawn",
    )
    table = [Fitted(heads, rows)] if rows else []
    lines = [line for arm in arms if (line := _unanswered(arm))]
    return [*table, *([Text("\n".join([*lines, ""]))] if lines else [])]


def _unanswered(arm: Document) -> str:
    """That the times of one side are of a smaller part of its replies; empty where they are not."""
    a, b = arm["a"], arm["b"]
    if (a["unfinished"], a["replies_due"]) == (b["unfinished"], b["replies_due"]):
        return ""
    told = " / ".join(f"{it['unfinished']} of {it['replies_due']}" for it in (a, b))
    return f"{arm['name']}: replies without an answer A / B: {told}; times are of the others alone"


def changes(document: Document) -> list[RenderableType]:
    """What differs in how the runs were made: build, seed, versions, settings."""
    rows = [
        [key, *map(_value, pair)] for key, pair in document["changed"].items() if key != "versions"
    ]
    versions = document["changed"].get("versions", {})
    rows += [[f"version of {key}", *map(_value, pair)] for key, pair in versions.items()]
    for arm in document["arms"]:
        rows += [
            [f"{arm['name']}: {key}", *map(_value, pair)] for key, pair in arm["settings"].items()
        ]
    if not rows:
        return [Text("Scenario, seed, build, versions and settings are the same.")]
    return [Fitted(("changed", "A", "B"), rows, text=("A", "B"))]


def _value(value: Any) -> str:
    if value is None or value in ("", []):
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= CHARACTERS else f"{text[: CHARACTERS - 1]}…"


def _number(value: Any) -> str:
    return "–" if value is None else str(value)
