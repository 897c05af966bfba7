"""Parts of a run's page that are more than one table. One rule: what is long is folded away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from markupsafe import Markup, escape

from lab.copies import others
from lab.report import run_sections as tables
from lab.report import words
from lab.report.html.elements import FOLDED, bullets, folded, joined, table, tag
from lab.report.slices import DIMENSIONS, Slice, slices
from lab.report.tiers import MISMATCH
from lab.stats import wilson

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, Finding
    from lab.report.html.known import Known
    from lab.report.section import Section

VERDICTS = ("clean", "corrupt", *words.OTHERS)
SLICES = ("arm", "bucket", "replies", "corrupt", "rate %", "Wilson 95 %")
# Prefixes of counters that are told elsewhere, or with whom.
APART = ("violation:", "fault:", "path:", "path_rows:")


class Left(Protocol):
    """What the arms of a run left, and what was found in it."""

    @property
    def histories(self) -> Sequence[ArmHistory]:
        """One an arm."""

    @property
    def findings(self) -> Mapping[str, Sequence[Finding]]:
        """By arm."""


def cell(text: str) -> Markup:
    """A cell whose verdict has its mark, and what is not as it should be stands out."""
    if text in VERDICTS:
        return tag("span", text, class_=f"v {text}")
    bad = text == MISMATCH or text.startswith("NO:")
    return tag("span", text, class_="no") if bad else escape(text)


def section(found: Section, says: Known) -> Markup:
    """A table and its sentences, names being links; a long table is folded away."""
    rows = table(found.heads, found.rows, says.say) if found.rows else Markup()
    if len(found.rows) > FOLDED:
        rows = folded(f"{len(found.rows)} rows", rows, shown=True)
    return joined((rows, bullets(map(says.say, found.lines))))


def titled(found: Section, says: Known) -> Markup:
    """The same below its heading."""
    return joined((tag("h3", found.title), section(found, says)))


def where(figures: Markup, left: Left) -> Markup:
    """The figures, and the counts behind them and of every other arm."""
    found = slices(left.histories, left.findings)
    by_dimension = [
        table(SLICES, (_slice(it) for it in found if it.what == what), caption=f"{what}: {about}")
        for what, (_, about) in DIMENSIONS.items()
        if any(it.what == what for it in found)
    ]
    if not by_dimension:
        return figures
    heard = (
        "Of the replies that came. A wrong reply is often longer or shorter for being wrong, so "
        "its length may be an effect. The batch's size is counted from the replies' own times; "
        "which row of the batch a reply had is not recorded."
    )
    counts = folded("The counts of every arm", tag("p", heard), *by_dimension, shown=not figures)
    return joined((figures, counts))


def counters(histories: Sequence[ArmHistory]) -> Markup:
    """Which copies ran, and all that the arms counted, a column an arm."""
    found = tables.copies(histories)
    copies = [tag("h3", found.title), table(found.heads, found.rows)] if found else []
    every = [
        {k: v for k, v in arm.counters.items() if not k.startswith(APART)} for arm in histories
    ]
    names = sorted({name for each in every for name, n in each.items() if n})
    told = [others(each) for each in every]
    rows = [(name, *(each.get(name, "–") for each in told)) for name in names]
    if not rows:
        return joined(copies)
    whole = table(("counter", *(arm.name for arm in histories)), rows)
    return joined(
        (
            *copies,
            folded(f"Every counter that moved ({len(rows)})", whole, shown=len(rows) <= FOLDED),
        )
    )


def geometry(histories: Sequence[ArmHistory]) -> Markup:
    """The pools of every tier, and in words how many do not agree."""
    found = tables.geometry(histories)
    if not found:
        return Markup()
    wrong = sum(row[-1] == MISMATCH for each in found for row in each.rows)
    said = f"{wrong} rows are MISMATCHES." if wrong else "Every tier agrees with its layout."
    return joined(
        (
            tag("p", said, class_="no" if wrong else None),
            *(
                folded(
                    f"Pools of {each.title}", table(each.heads, each.rows, cell), shown=wrong > 0
                )
                for each in found
            ),
        )
    )


def settings(arms: Sequence[ArmVerdict]) -> Markup:
    """What every arm has in a fold, and what each has of its own as a table."""
    common = tables.shared(arms)
    mine = [(arm.name, tables.spelt(tables.own(arm, common)) or "nothing else") for arm in arms]
    every = [(key, tables.plain(value)) for key, value in common.items()]
    shared = folded(f"The {len(every)} settings of every arm", table(("setting", "value"), every))
    return joined((table(("arm", "settings of its own"), mine), shared if every else ""))


def _slice(it: Slice) -> tuple[str, ...]:
    ends = words.interval(wilson(it.corrupt, it.n))
    rate = words.number(it.corrupt / it.n)
    return (it.arm, it.bucket, str(it.n), str(it.corrupt), rate, ends)
