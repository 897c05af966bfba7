"""Corrupt replies by the order of their requests: a rate that grows with pressure shows here.

Field reports have 0 % in the first 256 requests and 67 % in the last bucket (vllm#52448).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from lab.plots import FIGURES
from lab.plots.style import LOOKS, OTHER, new_figure, only_grid, title
from lab.report.slices import corrupt_of
from lab.stats import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lab.records import ArmHistory, ArmVerdict, Finding, RunVerdict

MOST, SMALLEST = 8, 12  # buckets an arm, requests a bucket
COLUMNS = 2


@dataclass(frozen=True)
class Bucket:
    """Requests ``first``..``last`` of an arm, counted from 1, and how many came back corrupt."""

    first: int
    last: int
    corrupt: int

    @property
    def n(self) -> int:
        """Requests in the bucket."""
        return self.last - self.first + 1


@FIGURES.register("buckets")
def draw(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> Figure | None:
    """One panel an arm, all on one vertical scale; nothing where no arm has two buckets."""
    by_arm = {
        arm.name: found for arm in histories if (found := buckets(arm, findings.get(arm.name, ())))
    }
    arms = [arm for arm in verdict.arms if arm.name in by_arm]
    if all(len(by_arm[arm.name]) < 2 for arm in arms):
        return None
    columns = min(COLUMNS, len(arms))
    rows = ceil(len(arms) / columns)
    figure = new_figure(4.4 * columns, 1.0 + 1.9 * rows)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    for axes, arm in zip(panels, arms, strict=False):
        draw_arm(axes, arm, by_arm[arm.name])
    for unused in panels[len(arms) :]:
        unused.set_axis_off()
    panels[0].set_ylim(0, None)
    figure.supylabel("corrupt replies (%)", fontsize=9)
    figure.supxlabel(
        "requests in the order in which they were sent; the line is the Wilson 95 % interval",
        fontsize=9,
    )
    title(figure, f"Corrupt replies over the run: {verdict.scenario}, seed {verdict.seed}")
    return figure


def buckets(history: ArmHistory, findings: Sequence[Finding]) -> list[Bucket]:
    """The arm's sent replies that were due, in order, in buckets of nearly equal size."""
    corrupt = corrupt_of(findings)
    sent = sorted(
        (reply.sent_s, reply.session, reply.turn)
        for reply in history.replies
        if reply.due and reply.status != "not_sent"
    )
    hits = [(session, turn) in corrupt for _, session, turn in sent]
    count = min(MOST, max(1, len(hits) // SMALLEST)) if hits else 0
    edges = [len(hits) * i // count for i in range(count + 1)] if count else []
    return [
        Bucket(first + 1, last, sum(hits[first:last])) for first, last in itertools.pairwise(edges)
    ]


def draw_arm(axes: Axes, arm: ArmVerdict, found: Sequence[Bucket]) -> None:
    """One bar a bucket with its interval; the panel's title has the n."""
    look = LOOKS.get(arm.verdict, OTHER)
    rates = [100 * bucket.corrupt / bucket.n for bucket in found]
    ends = [wilson(bucket.corrupt, bucket.n) for bucket in found]
    below = [rate - 100 * low for rate, (low, _) in zip(rates, ends, strict=True)]
    above = [100 * high - rate for rate, (_, high) in zip(rates, ends, strict=True)]
    axes.bar(range(len(found)), rates, width=0.8, color=look.colour, alpha=0.35)
    axes.errorbar(
        range(len(found)),
        rates,
        yerr=[below, above],
        fmt=look.marker,
        color=look.colour,
        markersize=4.5,
        linewidth=1.4,
        clip_on=False,
    )
    axes.set_xticks(range(len(found)), [f"{b.first}–{b.last}" for b in found], fontsize=6.5)
    sizes = sorted({bucket.n for bucket in found})
    each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
    total = sum(bucket.n for bucket in found)
    hits = sum(bucket.corrupt for bucket in found)
    axes.set_title(f"{arm.name}\n{hits} of {total} replies corrupt, n = {each} a bucket")
    only_grid(axes, "y")
