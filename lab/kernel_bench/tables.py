"""What was measured, for a person. Rule: a ratio is of two times of this run, and what was measured
otherwise is marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from lab.kernel_bench.trying import ALONE, COMPILED, OURS, PLAIN

MISSING, EAGER, OVERLAPPED = "-", "*", "+"


def measured(document: Mapping[str, Any]) -> RenderableType:
    """A row a case, below its kernel: times, ratios, the peer's time, what the goal allows and
    whether ours is within it.
    """
    made = _table(document, "kernel and size")
    heads = (
        "ours",
        "alone",
        "plain",
        "compiled",
        "floor",
        "ours/\nfloor",
        "plain/\nours",
        "peer,\napart",
    )
    for head in heads:
        made.add_column(head, justify="right", no_wrap=True)
    made.add_column("at most", justify="right", no_wrap=True)
    made.add_column("met", no_wrap=True)
    for kernel in dict.fromkeys(case["kernel"] for case in document["cases"]):
        made.add_row(kernel)
        for case in document["cases"]:
            if case["kernel"] == kernel:
                made.add_row(*_row(case))
    notes = (*_failures(document), *_unchecked(document), *_notes(document), *_peers(document))
    return Group(ceilings(document), made, *notes)


def _row(case: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {case['size']}"
    for name in (OURS, ALONE, PLAIN, COMPILED):
        told = _ms(_time(case, name)) + EAGER * _eager(case, name)
        yield "" if name == ALONE and name not in case["versions"] else told
    yield _ms(case["floor_ms"])
    yield _times(case["ours_over_floor"])
    yield _times(case["plain_over_ours"])
    yield _ms(case["peer"]["ms"]) if case["peer"] else ""
    yield _ms(case["goal"]["ms"]) if case["goal"] else ""
    yield _met(case)


def _met(case: Mapping[str, Any]) -> str:
    """Of ours as used; marked where ours alone is not within the goal."""
    said = {True: "yes", False: "no", None: ""}[case["met"]]
    return said + OVERLAPPED * bool(case["met"] and not case["met_alone"])


def tuned(document: Mapping[str, Any]) -> RenderableType:
    """The best candidate of each case beside what the code chooses."""
    made = _table(document, "case", "best")
    for head in ("ms", "x floor", f"{OURS} ms", "tried", "failed"):
        made.add_column(head, justify="right", no_wrap=True)
    for case in document["cases"]:
        tried = {each["name"]: each for each in case["tried"]}
        found = tried.get(case["best"] or "", {})
        best, floor = found.get("ms"), found.get("link_ms") or case["floor_ms"]
        made.add_row(
            f"{case['kernel']}, {case['size']}",
            case["best"] or MISSING,
            _ms(best),
            _times(best and best / floor),
            _ms(tried.get(OURS, {}).get("ms")),
            str(len(tried)),
            str(sum(bool(each["error"]) for each in tried.values())),
        )
    return Group(ceilings(document), made)


def ceilings(document: Mapping[str, Any]) -> str:
    """The line of what the device can do at most."""
    top = document["ceilings"]
    links = f"{top['hbm'] / 1e9:,.0f} GB/s copied, {top['h2d'] / 1e9:.1f} / {top['d2h'] / 1e9:.1f}"
    rates = f"{top['bf16'] / 1e12:,.0f} bf16 and {top['fp8'] / 1e12:,.0f} fp8 TFLOP/s"
    launch = f"{top['launch_ms']:.4f} ms a launch, {top['overlapped_launch_ms']:.4f} overlapped"
    return f"measured here: {links} GB/s to and from pinned memory, {rates}; {launch}"


def _table(document: Mapping[str, Any], *heads: str) -> Table:
    versions = f"torch {document['torch']}, Triton {document['triton']}"
    made = Table(
        title=f"{document['device']}, {versions}; medians, ms",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    made.padding = (0, 1, 0, 0)
    for head in heads:
        made.add_column(head)
    return made


def _failures(document: Mapping[str, Any]) -> list[str]:
    """A line for each of our own that failed; what torch cannot do is in the document."""
    cases = ((case, case["versions"].get(OURS, {})) for case in document["cases"])
    return [f"{c['kernel']}, {c['size']}: {ours['error']}" for c, ours in cases if ours["error"]]


def _eager(case: Mapping[str, Any], name: str) -> bool:
    """Whether a graph was due and could not be."""
    found = case["versions"].get(name)
    return bool(found and found["ms"] and not found["graph"] and case["link"] == "hbm")


def _unchecked(document: Mapping[str, Any]) -> Iterator[str]:
    """A line for each of our own that ran and was compared with nothing."""
    for case in document["cases"]:
        ours = case["versions"].get(OURS)
        if ours and ours["ms"] and not ours["against"]:
            yield f"{case['kernel']}, {case['size']}: unchecked, nothing else computes it here"


def _notes(document: Mapping[str, Any]) -> Iterator[str]:
    """What a floor is, and what marks and columns mean, where they stand."""
    cases = document["cases"]
    yield "floor: the bytes at the rate of a copy, or the operations at that of a large product"
    if any(_eager(case, name) for case in cases for name in case["versions"]):
        yield f"{EAGER} waits for the device: timed call by call, not from a graph"
    if any(ALONE in case["versions"] for case in cases):
        yield (
            "ours: calls one after another in a graph, each starting while the one before it ends; "
            "alone: no launch does, as plain torch and peers are measured"
        )
    if any(OVERLAPPED in _met(case) for case in cases):
        yield f"yes{OVERLAPPED}: met by ours, not by ours alone"


def _peers(document: Mapping[str, Any]) -> Iterator[str]:
    """A line for each peer: at how many sizes its time, measured apart, is longer than ours."""
    sizes: dict[str, list[Mapping[str, Any]]] = {}
    for case in document["cases"]:
        if case["peer"]:
            sizes.setdefault(f"{case['peer']['name']} ({case['kernel']})", []).append(case)
    for whose, cases in sizes.items():
        ours = sum(_ahead(case, OURS) for case in cases)
        alone = sum(_ahead(case, ALONE if ALONE in case["versions"] else OURS) for case in cases)
        said = f"ahead of {whose} at {ours} of {len(cases)} sizes, alone at {alone}"
        yield f"{said}; its times were measured apart, on an H200"


def _ahead(case: Mapping[str, Any], name: str) -> bool:
    ms = _time(case, name)
    return ms is not None and ms < case["peer"]["ms"]


def _time(case: Mapping[str, Any], name: str) -> float | None:
    """A version's time; None where it has none, or is wrong."""
    found = case["versions"].get(name)
    return found["ms"] if found and not found["error"] else None


def _ms(value: float | None) -> str:
    return MISSING if value is None else f"{value:.4f}" if value < 1 else f"{value:.3f}"


def _times(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"
