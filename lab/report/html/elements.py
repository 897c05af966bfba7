"""HTML as Python calls. One rule: text is escaped, unless an element of ours made it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

NUMERIC = re.compile(
    r"[–<>≤+\-]?[\d,.]+(e[+-]?\d+)?( ?%| of [\d,]+|/[\d,]+|–[\d.]+( %)?| \([\d,]+ of [\d,]+\))?"
    r"|–|first"
)
FOLDED = 14  # rows of a table from which on it is folded away
Say = Callable[[str], Markup]  # text as HTML


@dataclass(frozen=True)
class Part:
    """A part of the page: what its link is called, its heading, and what stands in it."""

    anchor: str
    title: str
    body: Markup


def tag(name: str, *inside: object, **given: str | None) -> Markup:
    """An element. Attributes that are Python's words end in ``_``; those of None are left out."""
    attributes = Markup().join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value)
        for key, value in given.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), attributes, joined(inside))


def joined(parts: Iterable[object]) -> Markup:
    """One after the other."""
    return Markup().join(escape(part) for part in parts)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], say: Say = escape, caption: str = ""
) -> Markup:
    """A table whose first column names its rows; numbers stand at the right, in figures of one
    width. ``say`` makes the cells.
    """
    found = [tuple(row) for row in rows]
    columns = range(len(heads))
    numeric = [i > 0 and all(NUMERIC.fullmatch(row[i].strip()) for row in found) for i in columns]
    head = (
        tag(
            "th", breakable(" ".join(text.split())), scope="col", class_="n" if numeric[i] else None
        )
        for i, text in enumerate(heads)
    )
    body = (tag("tr", *(_cell(row[i], i, numeric[i], say) for i in columns)) for row in found)
    titled = (tag("caption", caption),) if caption else ()
    whole = tag("table", *titled, tag("thead", tag("tr", *head)), tag("tbody", *body))
    return tag("div", whole, class_="wide", tabindex="0", role="region", aria_label="table")


def folded(title: str, *inside: object, shown: bool = False) -> Markup:
    """What is there for who looks for it; print opens it, too."""
    return tag("details", tag("summary", title), *inside, open="" if shown else None)


def breakable(name: str) -> Markup:
    """A name that may wrap behind its underscores, and is copied without a break."""
    return Markup("_<wbr>").join(name.split("_"))


def bullets(lines: Iterable[object]) -> Markup:
    """A list, folded away where it is long; nothing where there is no line."""
    items = [tag("li", line) for line in lines]
    if len(items) > FOLDED:
        return folded(f"{len(items)} notes", tag("ul", *items))
    return tag("ul", *items) if items else Markup()


def pairs(told: Iterable[tuple[object, object]]) -> Markup:
    """Labels and what they stand for."""
    return tag("dl", *(joined((tag("dt", name), tag("dd", said))) for name, said in told))


def code(text: str) -> Markup:
    """A command or a setting, to be copied."""
    return tag("pre", tag("code", text), tabindex="0")


def _cell(text: str, column: int, numeric: bool, say: Say) -> Markup:
    if column == 0:
        return tag("th", say(text), scope="row")
    return tag("td", say(text), class_="n" if numeric else None)
