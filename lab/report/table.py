"""The A/B table of a run, for a terminal of a hundred columns.

One rule: colour repeats what a word already says, so the table reads the same without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from lab.exposure import reported
from lab.repeats import whole
from lab.report import repeats, words
from lab.report.grid import Fitted

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict

COLOURS = {"clean": "green", "corrupt": "red", "inconclusive": "yellow"}
# Counters that say whether an arm reached the path at all, and their column heads. The first are
# always shown: that nothing was evicted is news. The others are where an arm has any.
ALWAYS = {
    "padded_rows": "padded\nrows",
    "prefix_hits": "prefix\nhits",
    "retractions": "retrac-\ntions",
    "evicted_pages": "evicted\npages",
    "aborts_in_flight": "aborts\nin flight",
}
SOMETIMES = {
    "evicted_tokens": "evicted\ntokens",
    "restored_tokens": "restored\ntokens",
    "graph_replays": "graph\nreplays",
    "overlap_steps": "overlap\nsteps",
    "transfers": "trans-\nfers",
    "large_prefill_rows": "large\nprefills'\nrows",
    "faults_injected": "faults\ninjected",
    "faults_met": "requests\nthat met\none",
}
# What went through the tiers below the device, in a table of its own: counter -> toggle, head.
# Where the toggle is on, that nothing came back is the news.
HOST = {
    "host_hits": ("hicache", "host hits,\nrequests"),
    "pages_restored": ("hicache", "pages\nrestored"),
    "pages_backed_up": ("hicache", "pages\nbacked up"),
    "hisparse_swap_ins": ("hisparse", "hisparse\nswap-ins"),
    "load_wait_us": ("hicache", "load\nwait s"),
    "virtual_s": ("hicache", "virtual\ns"),
}
# Columns where a model of unknown texts missed anything.
MISSED = ("missed\nsessions", "missed\n%", "missed\n95 %", "raw p with\nmissed")
RATES = ("arm", "corrupt\nsessions", "rate %", "Wilson\n95 %", "raw Fisher\np vs first")
REPLIES = ("corrupt\nreplies", "unfin-\nished")
VERDICT = ("verdict", "as\nexpected")
UNTOLD = "not reported"  # by a server that has no such counter
WRONG = ("what went wrong", "corrupt replies by class", "violations")


def run_report(verdict: RunVerdict) -> RenderableType:
    """Headline first, then the rates, the exposure, what went wrong and what n proves."""
    head = Text(words.headline(verdict), style="bold")
    which = f"run {verdict.run}, scenario {verdict.scenario}, seed {verdict.seed}"
    if not verdict.arms:
        return Group(head, Text(which, style="dim"))
    shown, boots = whole(verdict), repeats.repetitions(verdict)
    return Group(
        head,
        Text(which, style="dim"),
        ab_table(shown),
        *([Fitted(boots.heads, boots.rows)] if boots else []),
        *exposure_table(shown.arms),
        *wrong_table(shown.arms),
        notes(verdict),
        Text(words.took(verdict), style="dim"),
    )


def ab_table(verdict: RunVerdict) -> Fitted:
    """One row an arm: n, corrupt, rate with interval, p against the first, replies, verdict; and
    the boot that served it, where servers were launched, and what a model of unknown texts missed,
    where it did.
    """
    rows, booted = [], any(arm.boot for arm in verdict.arms)
    missed = MISSED if any(arm.sessions_missed for arm in verdict.arms) else ()
    for arm in verdict.arms:
        row: list[str | Text] = [
            arm.name,
            *([repeats.boot(arm)] if booted else []),
            words.of(arm),
            words.number(arm.rate),
            words.interval(arm.ci95),
            words.p_cell(verdict, arm),
            *(words.missed_cells(verdict, arm) if missed else ()),
            f"{arm.replies_corrupt} of {arm.replies_due}",
            str(arm.unfinished),
            Text(arm.verdict, style=COLOURS.get(arm.verdict, "magenta")),
            expected_cell(arm),
        ]
        rows.append(row)
    own = ("boot",) if booted else ()
    heads = (RATES[0], *own, *RATES[1:], *missed, *REPLIES, *VERDICT)
    order = (*RATES[1:], VERDICT[0], *missed, *REPLIES, VERDICT[1], *own)
    return Fitted(heads, rows, VERDICT, order)


def expected_cell(arm: ArmVerdict) -> Text:
    """Whether the arm is what the scenario says, red where it is not."""
    return Text(words.expected_word(arm), style="" if words.as_expected(arm) else "bold red")


def exposure_heads(arms: Sequence[ArmVerdict]) -> dict[str, str]:
    """The exposure counters to show, in the house order, with their heads."""
    if not any(any(arm.exposure.values()) for arm in arms):
        return {}
    some = {key: head for key, head in SOMETIMES.items() if any(a.exposure.get(key) for a in arms)}
    known = {
        key: head
        for key, head in ALWAYS.items()
        if any(reported(arm.exposure, key) for arm in arms)
    }
    return known | some


def host_heads(arms: Sequence[ArmVerdict]) -> dict[str, str]:
    """The counters of a tier that some arm has on, or in which something moved."""
    return {
        key: head
        for key, (tier, head) in HOST.items()
        if any(arm.settings.get(tier) or arm.exposure.get(key) for arm in arms)
    }


def exposure_table(arms: Sequence[ArmVerdict]) -> list[Fitted]:
    """How much of the path each arm reached; nothing when no arm counted anything."""
    if not exposure_heads(arms):
        return []
    tables = {"exposure": exposure_heads(arms), "host tiers": host_heads(arms)}
    return [counters_table(arms, what, heads) for what, heads in tables.items() if heads]


def counters_table(arms: Sequence[ArmVerdict], what: str, heads: Mapping[str, str]) -> Fitted:
    """One row an arm, one column a counter."""
    rows = [[arm.name, *(told(arm, key) for key in heads)] for arm in arms]
    return Fitted((what, *heads.values()), rows)


def told(arm: ArmVerdict, key: str) -> str:
    """An arm's cell: a counter, or seconds of its clock: all of them, or those waited for loads."""
    if key == "virtual_s":
        return f"{arm.virtual_s:.1f}"
    if not reported(arm.exposure, key):
        return UNTOLD
    known = key == "load_wait_us" and key in arm.exposure
    return f"{arm.exposure[key] / 1e6:.2f}" if known else counted(arm.exposure, key)


def counted(counters: Mapping[str, int], key: str) -> str:
    """A counter's value; a dash where nothing was counted at all, which is not a zero."""
    return str(counters.get(key, 0)) if any(counters.values()) else "–"


def wrong_table(arms: Sequence[ArmVerdict]) -> list[RenderableType]:
    """Outcome classes of corrupt replies, violations, misses and faults by name, of the arms that
    have any; no column of misses or of faults where there are none.
    """
    found = [arm for arm in arms if any({**arm.outcomes, **arm.missed, **arm.seen}.values())]
    if not found:
        return [Text("No corrupt reply, no violation and no fault in any arm.\n")]
    heads, counts = list(WRONG), [[arm.outcomes, arm.violations] for arm in found]
    for head, more in {
        "missed replies": [arm.missed for arm in found],
        "faults": [arm.faults for arm in found],
    }.items():
        if any(map(any, (it.values() for it in more))):
            heads.append(head)
            counts = [[*before, it] for before, it in zip(counts, more, strict=True)]
    rows = [(arm.name, *map(words.tally, it)) for arm, it in zip(found, counts, strict=True)]
    return [Fitted(heads, rows, heads)]


def notes(verdict: RunVerdict) -> Text:
    """What is said below the tables, a line each."""
    return Text("\n".join(repeats.notes(verdict)) + "\n")
