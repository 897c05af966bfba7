"""How far each kernel is from what the device can do: the roofs and the rates under them, and every
version over the floor of its own work.

Rule: roofs and points are of one run; a peer's time was measured apart, and its mark says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.plots.style import INK, new_figure, only_grid, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """How one version is drawn."""

    label: str
    colour: str
    marker: str
    filled: bool = True


MARKS = {
    "as chosen": Mark("ours", "#0072B2", "o"),
    "peer": Mark("peer (measured apart)", "#D55E00", "D", filled=False),
    "torch.compile": Mark("torch.compile", "#E69F00", "^", filled=False),
    "plain torch": Mark("plain torch", "#7f7f7f", "s", filled=False),
}


def roofline(document: Document) -> Figure:
    """Left, the cases that multiply, under the roofs; right, all cases over their floors."""
    rows = gathered(document["cases"])
    figure = new_figure(13.0, max(5.0, 1.6 + 0.21 * len(rows)))
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.0))
    draw_roofs(left, document)
    draw_floors(right, rows)
    title(figure, f"Kernels at production's sizes: {document['device']}, {document['date']}")
    return figure


def gathered(cases: Sequence[Document]) -> dict[str, list[Document]]:
    """A row a case, but for copies over the link to the host, which share their kernel's."""
    rows: dict[str, list[Document]] = {}
    for case in cases:
        alone = case["link"] == "hbm"
        name = f"{case['kernel']}, {case['size']}" if alone else case["kernel"]
        rows.setdefault(name, []).append(case)
    return rows


def draw_roofs(axes: Axes, document: Document) -> None:
    """Bandwidth as the slope, matrix rates as levels; a dotted line joins a case's versions."""
    top, multiplied = document["ceilings"], [it for it in document["cases"] if it["flops"]]
    intensity = [it["flops"] / it["moved_bytes"] for it in multiplied] or [1.0]
    grid = np.geomspace(min(*intensity, 30.0) / 2, max(*intensity, 500.0) * 2, 200)
    for kind, style in (("bf16", "-"), ("fp8", "--")):
        roof = np.minimum(grid, top[kind] / top["hbm"]) * top["hbm"]
        axes.plot(grid, roof / 1e12, style, color=INK, linewidth=1.2)
        said = f"{kind}: {top[kind] / 1e12:,.0f} TFLOP/s"
        axes.annotate(said, (grid[-1], top[kind] / 1e12), ha="right", va="bottom", fontsize=8)
    lowest: dict[str, tuple[float, float]] = {}
    for case, x in zip(multiplied, intensity, strict=False):
        rates = {name: case["flops"] / ms / 1e9 for name, ms in times(case)}
        axes.plot([x] * len(rates), list(rates.values()), ":", color="#bbbbbb", linewidth=0.8)
        for name, rate in rates.items():
            draw_mark(axes, x, rate, MARKS[name])
        below = min(rates.values(), default=np.inf), x
        lowest[case["kernel"]] = min(lowest.get(case["kernel"], below), below)
    for kernel, (rate, x) in lowest.items():
        place = {"rotation": 90, "ha": "center", "va": "top", "fontsize": 7}
        axes.text(x, rate * 0.85, kernel, place)
    axes.set(xscale="log", yscale="log", xlabel="operations a byte that must be moved")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    axes.set_ylabel("TFLOP/s")
    axes.set_ylim(min([rate for rate, _ in lowest.values()], default=10.0) / 6, None)
    slope = f"slope: {top['hbm'] / 1e12:.2f} TB/s, as a copy on the device moves"
    axes.set_title(f"{slope}; {len(multiplied)} cases that multiply", fontsize=8)


def draw_floors(axes: Axes, rows: Mapping[str, Sequence[Document]]) -> None:
    """The first row on top: each version's time over the floor, ours in words too."""
    beside = axes.get_yaxis_transform()
    for row, cases in enumerate(rows.values()):
        for case in cases:
            for name, ms in times(case):
                draw_mark(axes, ms / case["floor_ms"], row, MARKS[name])
        axes.annotate(reached(cases), (1.01, row), xycoords=beside, va="center", fontsize=7)
    axes.axvline(1.0, color=INK, linewidth=1.2)
    axes.set(
        xscale="log", xlabel="time over the floor of its own bytes or operations (1: the floor)"
    )
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(rows)), list(rows), fontsize=7)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    only_grid(axes, "x")
    for mark in MARKS.values():
        draw_mark(axes, np.nan, np.nan, mark, label=mark.label)
    axes.legend(fontsize=7, loc="lower left", bbox_to_anchor=(-0.1, 1.0), ncols=4, frameon=False)


def draw_mark(axes: Axes, x: float, y: float, mark: Mark, label: str | None = None) -> None:
    """One version of one case."""
    drawn = axes.plot([x], [y], mark.marker, color=mark.colour, label=label, zorder=3)[0]
    drawn.set(markersize=5, markerfacecolor=mark.colour if mark.filled else "none")


def times(case: Document) -> Iterator[tuple[str, float]]:
    """Milliseconds of each version that ran and was right, the peer's among them."""
    for name in MARKS:
        found = case["versions"].get(name)
        if found and found["ms"] and not found["error"]:
            yield name, found["ms"]
        elif name == "peer" and case["peer"]:
            yield name, case["peer"]["ms"]


def reached(cases: Sequence[Document]) -> str:
    """What ours reaches, in the unit of its floor; the least and the most of several."""
    rates = sorted(case["gb_per_s"] for case in cases if case["gb_per_s"] is not None)
    if not rates:
        return "failed"
    said = f"{rates[0]:,.0f}" + (f" to {rates[-1]:,.0f}" if len(rates) > 1 else "") + " GB/s"
    tflops = cases[0]["tflops"]
    return f"{said}, {tflops:,.0f} TFLOP/s" if tflops else said
