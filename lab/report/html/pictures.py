"""Figures of a page: the SVG that lies beside it, made part of it.

One rule: a figure inside a page has the page's colours and no name that another figure has, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from lab.catalog.docs import first
from lab.report.html.elements import tag
from lab.report.html.style import COLOURS

if TYPE_CHECKING:
    from pathlib import Path

BROAD = 800.0  # points of width from which on a figure is scrolled instead of shrunk
NAME = re.compile(r'(?<=\bid=")|(?<=href="#)|(?<=url\(#)')
HEAD = re.compile(r"<svg\b[^>]*>")
SIZE = re.compile(r'\bwidth="([\d.]+)pt"')
BOX = re.compile(r'\bviewBox="([^"]+)"')
DROPPED = re.compile(r"<metadata>.*?</metadata>|<style\b.*?</style>", re.DOTALL)
COLOUR = re.compile("|".join(COLOURS), re.IGNORECASE)


def picture(svg: Path, about: str) -> Markup:
    """A figure with ``about`` as its caption, which is its name for who cannot see it."""
    name = svg.stem
    drawn, broad = inline(svg.read_text(encoding="utf-8"), name, about)
    plot = tag("div", drawn, class_="plot broad" if broad else "plot")
    return tag("figure", plot, tag("figcaption", about), id=f"figure-{name}")


def inline(text: str, name: str, about: str) -> tuple[Markup, bool]:
    """An SVG file's text as an element of a page, and whether it is too broad to be shrunk."""
    text = DROPPED.sub("", text[text.index("<svg") :])
    text = NAME.sub(f"{name}-", text)
    text = COLOUR.sub(lambda found: COLOURS[found[0].lower()], text)
    head = HEAD.match(text)
    assert head is not None
    box, width = BOX.search(head[0]), SIZE.search(head[0])
    points = float(width[1]) if width else 0.0
    whole = Markup('<svg viewBox="{}" width="{}" role="img" aria-label="{}">').format(
        box[1] if box else "0 0 1 1", f"{points * 4 / 3:.0f}", about
    )
    return whole + Markup(text[head.end() :]), points > BROAD


def abouts(figures: Mapping[str, object]) -> dict[str, str]:
    """What the docstring of each figure's module says of it, first paragraph."""
    return {
        name: first(sys.modules[getattr(draw, "__module__", "")].__doc__)
        for name, draw in figures.items()
    }
