"""The page of a bisection, part by part. One rule: it says what the document says, in its order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.plots.bisection import BISECTION_FIGURES
from lab.report.bisection_markdown import command, probe_rows, told_of
from lab.report.bisection_sections import UNTESTED, sections
from lab.report.bisection_untested import untested
from lab.report.bisection_words import headline, subline
from lab.report.html import parts
from lab.report.html.elements import Part, bullets, code, folded, joined, pairs, table
from lab.report.html.known import Known, known
from lab.report.html.page import Head, page
from lab.report.html.pictures import abouts, picture
from lab.report.origin import origin_of

if TYPE_CHECKING:
    from pathlib import Path

    from markupsafe import Markup

    from lab.store import StoredBisection

SPACE = re.compile(r"\W+")
AFTER = ("Toggles", "posterior"), ("Arms", "probes")  # which part a figure follows


@dataclass(frozen=True)
class Told:
    """What a page of a bisection is made of; ``drawn`` are its figures' SVG files, by name."""

    document: Mapping[str, Any]
    stored: StoredBisection
    drawn: Mapping[str, Path] = field(default_factory=dict)


def bisection_page(told: Told) -> str:
    """The whole page; ends with a newline."""
    it = told.document
    seen = [*it["evidence"], *it["evidence_cleared"]]
    seen += [name for side in it["faults"].values() for name in side]
    says = known(_build(told), seen)
    sentence = headline(it).removeprefix(f"{it['verdict']}: ")
    about = (
        f"bisection {it['bisection']}, seed {it['seed']}; {it['sessions_spent']} of {it['budget']} "
        f"sessions by {it['method']}, counted by {it['unit']}; {it['wall_s']:.0f} s of trials"
    )
    if it.get("posterior") is not None:
        about += f"; posterior {it['posterior']:.3f}"
    below = subline(it)
    head = Head(
        f"{it['scenario']}: bisection {it['bisection']}",
        it["verdict"],
        sentence,
        f"{below[0].upper()}{below[1:]}. {about}" if below else about,
    )
    return page(head, bisection_parts(told, says))


def bisection_parts(told: Told, says: Known) -> list[Part]:
    """Its sections with their figures, then what no section has."""
    about = abouts(BISECTION_FIGURES.all()) if told.drawn else {}
    pictures = {name: picture(svg, about[name]) for name, svg in told.drawn.items()}
    found = []
    for section in (it for it in sections(told.document) if it.title != UNTESTED):
        after = [pictures.pop(name, "") for title, name in AFTER if title == section.title]
        body = joined((parts.section(section, says), *after))
        found.append(Part(anchor(section.title), section.title, body))
    return [
        *found,
        Part("figures", "Figures", joined(pictures.values())),
        Part("untested", UNTESTED, bullets(untested(told.document))),
        Part("incidents", "Incidents", says.incident_cards()),
        Part("names", "Violations and faults", says.name_cards()),
        Part("probes", "Every probe", _probes(told)),
        Part("repeat", "To repeat it", _repeat(told)),
    ]


def anchor(title: str) -> str:
    """A heading as an address that no name of the catalog has."""
    return f"part-{SPACE.sub('-', title.lower()).strip('-')}"


def _build(told: Told) -> tuple[str, ...]:
    return origin_of(told.stored.yaml, f"scenario of bisection {told.stored.id}", "", {}).build


def _probes(told: Told) -> Markup:
    heads, rows = probe_rows(told.document)
    return folded(f"{len(rows)} probes", table(heads, rows))


def _repeat(told: Told) -> Markup:
    lines = told_of(told.document, told.stored)
    del lines["command"]
    return joined((code(command(told.stored)), pairs(lines.items())))
