"""What a bisection concluded, for a terminal. One rule: it says what the document says.

A rate stands with its units, a verdict with what it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report.bisection_sections import sections
from lab.report.bisection_words import headline, said, subline
from lab.report.grid import Fitted

if TYPE_CHECKING:
    from lab.report.section import Section

COLOURS = {"CONFIRMED": "red", "SUSPECT": "yellow", "NOT-REPRODUCED": "green"}
Document = Mapping[str, Any]


def bisection_report(told: Document) -> RenderableType:
    """The verdict in a sentence, the toggles, the arms, what was seen, what is guaranteed."""
    which = f"bisection {told['bisection']}, scenario {told['scenario']}, seed {told['seed']}"
    spent = f"{told['sessions_spent']} of {told['budget']} sessions by {told['method']}"
    below = subline(told)
    return Group(
        verdict_line(told),
        *([Text(below)] if below else []),
        Text(f"{which}; {spent}, counted by {told['unit']}\n", style="dim"),
        *(part for section in sections(told) for part in laid_out(section)),
    )


def verdict_line(told: Document) -> Text:
    """The headline, its verdict in colour."""
    line = Text(headline(told), style="bold")
    colour = COLOURS.get(told["verdict"], "magenta")
    line.stylize(colour, 0, len(told["verdict"]))
    return line


def laid_out(section: Section) -> list[RenderableType]:
    """A heading, its table, its sentences."""
    found: list[RenderableType] = [Text(section.title, style="bold")]
    if section.rows:
        found.append(Fitted(section.heads, section.rows, text=section.text))
    if section.lines:
        found.append(Text("\n".join(section.lines) + "\n"))
    return found


def plan_report(told: Document) -> RenderableType:
    """The first probes, and what whole searches would take."""
    rows = [
        [probe["phase"], str(probe["sessions"]), named(probe["toggles"])]
        for probe in told["probes"]
    ]
    head = f"{told['scenario']}, {told['method']}: the first probes"
    assumed = f"if {told['assumed_rate']:.0%} are corrupt and every answer is the likeliest"
    return Group(
        Text(head, style="bold"),
        Text(assumed, style="dim"),
        Fitted(("phase", "sessions", "bad"), rows, text=("bad",)),
        *plan_costs(told),
    )


def plan_costs(told: Document) -> list[RenderableType]:
    """What simulated searches took at each rate, of how many, and what would do instead."""
    expected = told["expected"]
    costs = [
        [
            f"{cost['rate']:.0%}",
            str(cost["sessions_mean"]),
            str(cost["sessions_most"]),
            f"{cost['within_budget']} of {cost['searches']}",
            str(cost["minutes_mean"]),
        ]
        for cost in expected
    ]
    heads = (
        "corrupt with all bad",
        "sessions,\nmean",
        "sessions,\nmost",
        "within\nbudget",
        "minutes",
    )
    known = len(heads) if all(cost["minutes_mean"] is not None for cost in expected) else -1
    many = f"{expected[0]['searches']} simulated searches a rate"
    return [
        Text(f"expected, of {many}; the budget is {told['budget']} sessions"),
        Fitted(heads[:known], [cost[:known] for cost in costs]),
        *([Text(_would_do(would))] if (would := told["would_do"]) else []),
    ]


def _would_do(would: Document) -> str:
    rates = " and ".join(f"{rate:.0%}" for rate in would["rates"])
    fewer = f", or --sessions {would['sessions']}" if would["sessions"] else ""
    return f"the budget will not do where {rates} are corrupt: --budget {would['budget']}{fewer}"


def named(toggles: Mapping[str, Any]) -> str:
    """Settings other than the baseline's, as `--set` spells them."""
    return ", ".join(f"{key}={said(value)}" for key, value in toggles.items()) or "nothing"
