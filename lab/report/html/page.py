"""The frame of a page: its head, its verdict in one sentence, and links to its parts.

One rule: the verdict comes first, and every part has an address.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from lab.report.html.elements import Part, joined, tag
from lab.report.html.style import STYLE

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
META = Markup(
    '<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{}">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<link rel="icon" href="data:,">'
)


@dataclass(frozen=True)
class Head:
    """What a page begins with: a title, the verdict's word, a sentence, and where it is from."""

    title: str
    verdict: str
    headline: str
    about: str


def page(head: Head, parts: Iterable[Part]) -> str:
    """The whole page; ends with a newline."""
    found = [part for part in parts if part.body]
    links = (tag("li", tag("a", part.title, href=f"#{part.anchor}")) for part in found)
    sheet = tag(
        "div",
        header(head),
        tag("nav", tag("ol", *links), aria_label="parts of the report"),
        tag("main", *map(section, found), id="report"),
        class_="sheet",
    )
    inside = joined((META.format(POLICY), tag("title", head.title), tag("style", Markup(STYLE))))
    skip = tag("a", "to the report", href="#report", class_="skip")
    whole = tag("html", tag("head", inside), tag("body", skip, sheet), lang="en")
    return f"<!doctype html>\n{whole}\n"


def header(head: Head) -> Markup:
    """The title, the verdict in a sentence, and what it is the verdict of."""
    word = tag("span", head.verdict, class_=f"v {head.verdict}")
    sentence = head.headline.removeprefix(f"{head.verdict.capitalize()}: ")
    return tag(
        "header",
        tag("h1", head.title),
        tag("p", word, " ", sentence, class_="headline", id="verdict"),
        tag("p", head.about, class_="about"),
    )


def section(part: Part) -> Markup:
    """A part, whose heading links to itself."""
    title = tag("h2", tag("a", part.title, href=f"#{part.anchor}"))
    return tag("section", title, part.body, id=part.anchor)
