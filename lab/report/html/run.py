"""The page of a run, part by part. One rule: a part that has nothing to say is not there, and what
that hides is told under what was not tested.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.exposure import is_foreign
from lab.plots import FIGURES
from lab.report import run_sections as tables
from lab.report import words
from lab.report.html import parts
from lab.report.html.elements import Part, bullets, code, folded, joined, pairs, table, tag
from lab.report.html.explained import ledger, one_session
from lab.report.html.known import Known, detectors, known
from lab.report.html.page import Head, page
from lab.report.html.pictures import abouts, picture
from lab.report.origin import origin
from lab.report.servers import servers
from lab.report.untested import untested

if TYPE_CHECKING:
    from pathlib import Path

    from markupsafe import Markup

    from lab.records import ArmHistory, Finding, RunVerdict
    from lab.store import StoredRun

# Which part a figure stands in; one that is not named here has a part of its own.
PLACES: Mapping[str, str] = {
    "rates": "rates",
    "sweep": "rates",
    "buckets": "where",
    "slices": "where",
    "times": "latency",
    "latency": "latency",
}
GRAVEST = ("corrupt", *words.OTHERS, "clean")


@dataclass(frozen=True)
class Told:
    """All that a page of a run is made of; ``drawn`` are its figures' SVG files, by name."""

    verdict: RunVerdict
    stored: StoredRun
    histories: Sequence[ArmHistory]
    findings: Mapping[str, Sequence[Finding]]
    drawn: Mapping[str, Path] = field(default_factory=dict)

    def figures(self, part: str) -> Markup:
        """The figures that stand in a part."""
        about = abouts(FIGURES.all()) if self.drawn else {}
        return joined(
            picture(svg, about[name])
            for name, svg in self.drawn.items()
            if PLACES.get(name, "figures") == part
        )


def run_page(told: Told) -> str:
    """The whole page; ends with a newline."""
    verdict, stored = told.verdict, told.stored
    says = known(origin(stored).build, _seen(told))
    about = (
        f"run {verdict.run}, seed {verdict.seed}, {stored.status}, "
        f"began {stored.started_at:%Y-%m-%d %H:%M} UTC; {words.took(verdict)}"
    )
    title = f"{verdict.scenario}: run {verdict.run}"
    word = worst(verdict, stored.status.value)
    return page(Head(title, word, words.headline(verdict), about), run_parts(told, says))


def worst(verdict: RunVerdict, ended: str) -> str:
    """The gravest verdict of its arms; how it ``ended`` where that is why none is grave."""
    found: Collection[str] = [arm.verdict for arm in verdict.arms]
    kind = next((kind for kind in GRAVEST if kind in found), "inconclusive")
    return ended if verdict.incomplete and kind in ("clean", "inconclusive") else kind


def run_parts(told: Told, says: Known) -> list[Part]:
    """The parts in the order in which a reader asks."""
    arms = told.verdict.arms
    return [
        Part("rates", "Rates", _rates(told)),
        Part(
            "where", "By request, length, batch and tier", parts.where(told.figures("where"), told)
        ),
        Part("wrong", "What went wrong", _wrong(told, says)),
        Part("ledger", "What the ledger saw", ledger(arms, says, _foreign(told))),
        Part("explained", "One reply explained", one_session(told.histories, told.findings, says)),
        Part("exposure", "Exposure", parts.section(tables.exposure(arms), says)),
        Part("counters", "Branch counters", parts.counters(told.histories)),
        Part("latency", "Latency", told.figures("latency")),
        Part("geometry", "Geometry", parts.geometry(told.histories)),
        Part(
            "servers", "Servers", joined(parts.titled(it, says) for it in servers(told.histories))
        ),
        Part("figures", "More figures", told.figures("figures")),
        Part("untested", "What was not tested", _untested(told)),
        Part("incidents", "Incidents", says.incident_cards()),
        Part("names", "Violations and faults", says.name_cards()),
        Part("settings", "Effective settings", parts.settings(arms)),
        Part("repeat", "To repeat it", _repeat(told)),
    ]


def _foreign(told: Told) -> bool:
    return bool(told.histories) and all(map(is_foreign, told.histories))


def _seen(told: Told) -> list[str]:
    """Whatever an arm saw, or its file wants to see."""
    arms = told.verdict.arms
    return [name for arm in arms for name in (*arm.seen, *arm.expected_violations)]


def _rates(told: Told) -> Markup:
    found = tables.rates(told.verdict)
    return joined(
        [told.figures("rates"), table(found.heads, found.rows, parts.cell), bullets(found.lines)]
    )


def _wrong(told: Told, says: Known) -> Markup:
    """The classes by arm, and what each class that occurred is."""
    arms = told.verdict.arms
    seen = sorted({name for arm in arms for name, n in arm.outcomes.items() if n})
    finds = detectors()
    legend = pairs((name, says.say(finds[name])) for name in seen if name in finds)
    return joined((parts.section(tables.wrong(arms), says), legend if seen else ""))


def _untested(told: Told) -> Markup:
    return bullets(untested(told.verdict, told.stored, told.histories, told.findings))


def _repeat(told: Told) -> Markup:
    """One command, then what it ran: the code under test, the load, the versions, the digests."""
    lines = origin(told.stored, told.histories).lines()
    command = lines.pop("command")
    digests = [(arm.name, arm.history_digest) for arm in told.verdict.arms]
    same = "A run of the same versions has the same digests, byte for byte."
    return joined(
        [
            code(command),
            pairs([*lines.items(), ("seed", str(told.verdict.seed))]),
            folded(
                "History digests, arm by arm", tag("p", same), table(("arm", "digest"), digests)
            ),
        ]
    )
