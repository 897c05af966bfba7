"""How long clients waited: for the first token, from token to token, and for the whole reply.

A reply that never came counts at the time at which its client gave up, on top of the others: a
floor at a timeout stands behind the timeout's line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.plots import FIGURES
from lab.plots.histogram import bins, draw_bars, draw_marks
from lab.plots.latency import legend
from lab.plots.style import new_figure, title, wrapped
from lab.report.servers import rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lab.records import ArmHistory, Finding, Reply, RunVerdict

MOST = 6  # arms in one figure
COLUMNS = {"first token": "s", "gap of tokens, mean of a reply": "ms", "whole reply": "s"}


@dataclass(frozen=True)
class Waits:
    """One arm's panel: times of replies that came, and of those that did not."""

    well: list[float]
    ill: list[float]

    def told(self) -> str:
        """``n = 240: p50 1.2, p99 4.5``; what did not come is counted after it."""
        well = sorted(self.well)
        ranks = [f"p{p} {rank(well, p / 100):.3g}" for p in (50, 99)] if well else []
        many = f"n = {len(self.well)}" + (f": {', '.join(ranks)}" if ranks else "")
        return f"{many}; {len(self.ill)} without an answer" if self.ill else many


@FIGURES.register("times")
def draw(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> Figure | None:
    """A row an arm, a column a time; the arms with the most replies missing before the others."""
    timed = [(arm, waits(arm)) for arm in histories]
    timed = [(arm, found) for arm, found in timed if found[2].well or found[2].ill]
    if not timed:
        return None
    ranked = sorted(timed, key=lambda pair: -len(pair[1][2].ill))[:MOST]
    shown = [pair for pair in timed if pair in ranked]
    figure = new_figure(9.6, 1.5 + 1.85 * len(shown))
    panels = figure.subplots(len(shown), len(COLUMNS), sharex="col", squeeze=False)
    for column, (what, unit) in enumerate(COLUMNS.items()):
        its = [(found[column], arm) for arm, found in shown]
        draw_column(list(panels[:, column]), its, what, unit)
    for axes, (arm, _) in zip(panels[:, 0], shown, strict=True):
        axes.set_ylabel(f"{wrapped(arm.name, 18)}\n\nreplies")
    figure.legend(handles=legend(), loc="outside upper right", ncols=2, fontsize=9, frameon=False)
    figure.supxlabel(caption(shown), fontsize=9)
    some = f"\nthe {MOST} of {len(timed)} arms that miss the most" if len(timed) > MOST else ""
    title(figure, f"Times by each arm's clock: {verdict.scenario}, seed {verdict.seed}{some}")
    return figure


def draw_column(
    panels: Sequence[Axes], found: Sequence[tuple[Waits, ArmHistory]], what: str, unit: str
) -> None:
    """One time of every arm over one axis, with the client's timeout where it is one of seconds."""
    limits = [arm.timeout_s for waited, arm in found if arm.timeout_s and waited.ill]
    edges = bins([t for waited, _ in found for t in (*waited.well, *waited.ill)], limits)
    for axes, (waited, arm) in zip(panels, found, strict=True):
        if edges is None:
            axes.set_axis_off()
            axes.set_title("not told")
            continue
        draw_bars(axes, waited.well, waited.ill, edges)
        marked = {"client timeout": arm.timeout_s} if arm.timeout_s and waited.ill else {}
        axes.set_title(waited.told(), pad=5 + 10 * draw_marks(axes, marked))
    above: dict[str, Any] = {
        "xycoords": "axes fraction",
        "textcoords": "offset points",
        "fontsize": 10,
    }
    height = 20 + (10 if limits else 0)
    panels[0].annotate(f"{what} ({unit})", (0, 1), xytext=(0, height), fontweight="bold", **above)


def caption(shown: Sequence[tuple[ArmHistory, tuple[Waits, ...]]]) -> str:
    """What holds for every panel: whose times these are, and a timeout that nobody waited for."""
    waited = any(found.ill for _, its in shown for found in its)
    far = sorted({arm.timeout_s for arm, _ in shown if arm.timeout_s})
    said = "replies by how long they took"
    if waited or not far:
        return said
    return f"{said}; nobody waited for the client's timeout of {far[0]:g} s"


def waits(arm: ArmHistory) -> tuple[Waits, Waits, Waits]:
    """First token and whole reply in seconds from the last sending, gaps in milliseconds."""
    sent = [it for it in arm.replies if it.due and it.status != "not_sent"]
    came = [it for it in sent if it.status == "ok" and it.done_s is not None]
    lost = [it.done_s - it.sent_s for it in sent if it.status != "ok" and it.done_s is not None]
    first = [it.first_token_s - it.sent_s for it in came if it.first_token_s is not None]
    whole = [it.done_s - it.sent_s for it in came if it.done_s is not None]
    gaps = [gap for it in came if (gap := gap_ms(it)) is not None]
    return Waits(first, lost), Waits(gaps, []), Waits(whole, lost)


def gap_ms(reply: Reply) -> float | None:
    """The mean time between its parts, or between its tokens where nothing was streamed."""
    if reply.gaps_ms:
        return float(reply.gaps_ms["mean"])
    if reply.first_token_s is None or reply.done_s is None or reply.completion_tokens < 2:
        return None
    return 1e3 * (reply.done_s - reply.first_token_s) / (reply.completion_tokens - 1)
