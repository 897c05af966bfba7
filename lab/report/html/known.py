"""The names that a page mentions: each leads to what it means, and that to where it was reported.

One rule: an incident is shown where the code under test has it, or where the run saw what names it;
nothing else of the catalog is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from lab.catalog.docs import first
from lab.catalog.incidents import incidents
from lab.catalog.lines import lines, watchers
from lab.catalog.names import names
from lab.catalog.page import Writer
from lab.detectors.examine import ranked
from lab.errors import ScenarioError
from lab.report.html.elements import joined, pairs, tag

if TYPE_CHECKING:
    from lab.catalog.incidents import Incident
    from lab.catalog.names import Name

LABELS = (  # of an incident's lines, those that a report has room for
    *("trigger", "tried with", "symptom", "cleared by", "not cleared by", "named by", "fix"),
    *("healthy class", "seams", "scenario", "origin"),
)
NOT_PUBLIC = " (no public report of it is known)"


@dataclass(frozen=True)
class Known:
    """The incidents and the names that a page explains."""

    incidents: tuple[Incident, ...]
    names: tuple[Name, ...]

    @cached_property
    def _writer(self) -> Writer:
        return Writer([it.name for part in (self.incidents, self.names) for it in part])

    def say(self, text: str) -> Markup:
        """Text whose names and issues are links, and whose code is set as such."""
        return Markup(self._writer.text(text))

    def meaning(self) -> Mapping[str, str]:
        """What each name means."""
        return {it.name: it.meaning for it in self.names}

    def incident_cards(self) -> Markup:
        """One card an incident: its mechanism, what triggers and ends it, and its origin."""
        return joined(map(self._card, self.incidents))

    def name_cards(self) -> Markup:
        """One card a violation or fault, and a line that says who watches for it."""
        return joined(
            tag(
                "article",
                tag("h3", it.name, " ", _badge(it.kind)),
                tag("p", self.say(it.meaning)),
                pairs([("watched by", watchers(it)), ("names", self._named(it))]),
                id=it.name,
            )
            for it in self.names
        )

    def _named(self, it: Name) -> Markup:
        """The incidents that it stands for; those that are not here are in the catalog."""
        if it.incidents:
            return self.say(", ".join(it.incidents))
        return self.say("any incident that leaves a wrong row" if it.effect else "none by itself")

    def _card(self, it: Incident) -> Markup:
        told = lines(it)
        public = "github.com" in self._writer.text(told.get("origin", ""))
        found = [
            (label, joined((self.say(told[label]), _unpublished(label, public))))
            for label in LABELS
            if label in told
        ]
        return tag(
            "article",
            tag("h3", it.name, " ", _badge(it.kind)),
            tag("p", self.say(it.mechanism)),
            pairs(found),
            id=it.name,
        )


def known(build: Collection[str], seen: Collection[str]) -> Known:
    """What a page explains: the defects of ``build``, the names of ``seen``, and their incidents.

    Only of ``build`` the scenario files are read, too: that takes half a second each.
    """
    try:
        every = incidents(only=build)
    except ScenarioError:  # the checkout is not the one that the run was made with
        every = incidents(only=())
    named = tuple(it for it in names(every) if it.name in seen)
    wanted = {*build, *(tied for it in named for tied in it.incidents)}
    return Known(tuple(it for it in every if it.name in wanted), named)


def detectors() -> dict[str, str]:
    """What each detector of replies finds."""
    return {it.name: first(it.look.__doc__) for it in ranked()}


def _unpublished(label: str, public: bool) -> str:
    return NOT_PUBLIC if label == "origin" and not public else ""


def _badge(kind: str) -> Markup:
    return tag("span", kind, class_=f"kind {kind}")
