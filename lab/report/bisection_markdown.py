"""A bisection as plain markdown, to be pasted into a bug report.

One rule: it holds what a reader needs to judge and to repeat it: units, intervals, the command.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.report.bisection_sections import sections
from lab.report.bisection_words import headline, named, said, subline
from lab.report.markdown import NO_FIGURES, shown, table
from lab.report.origin import listed, origin_of

if TYPE_CHECKING:
    from lab.report.section import Section
    from lab.store import StoredBisection

Document = Mapping[str, Any]
# What was typed, of what the store holds: how each is spelt.
OPTIONS = {
    "method": "--method",
    "budget": "--budget",
    "unit": "--unit",
    "outcome": "--outcome",
    "fix": "--fix",
    "no_confirm": "--no-confirm",
    "sets": "--set",
    "sessions": "--sessions",
}


def bisection_markdown(
    told: Document, stored: StoredBisection, figures: Mapping[str, str] = NO_FIGURES
) -> str:
    """The whole report; ends with a newline. ``figures`` are the images that lie beside it, each
    with its caption.
    """
    below = subline(told)
    parts = [
        f"# {told['scenario']}: bisection {told['bisection']}",
        headline(told),
        *([below] if below else []),
        *(part for section in sections(told) for part in laid_out(section)),
        *shown(figures),
        "## To repeat it",
        repeat(told, stored),
        "## Every probe",
        probes(told),
    ]
    return "\n\n".join(parts) + "\n"


def laid_out(section: Section) -> list[str]:
    """A heading, its table, its sentences as a list."""
    found = [f"## {section.title}"]
    if section.rows:
        found.append(table([" ".join(head.split()) for head in section.heads], section.rows))
    if section.lines:
        found.append("\n".join(f"- {line}" for line in section.lines))
    return found


def repeat(told: Document, stored: StoredBisection) -> str:
    """The command, the code under test, the load, the versions, and what it was held to."""
    lines = told_of(told, stored)
    typed = lines.pop("command")
    return "\n".join([f"```sh\n{typed}\n```\n", *(f"- {k}: {v}" for k, v in lines.items())])


def told_of(told: Document, stored: StoredBisection) -> dict[str, str]:
    """The same by what it is of."""
    file = f"scenario of bisection {stored.id}"
    lines = origin_of(stored.yaml, file, command(stored), stored.versions).lines()
    lines["sought"] = f"{told['outcome']} sessions, counted by {told['unit']}"
    lines["parameters"] = listed(told["parameters"], " ")
    return lines


def command(stored: StoredBisection) -> str:
    """`kvlab bisect` with the options that were typed, and its seed."""
    argv = ["kvlab", "bisect", str(stored.options.get("file", stored.scenario))]
    for key, option in OPTIONS.items():
        value = stored.options.get(key)
        if value is True:
            argv.append(option)
        elif isinstance(value, list | tuple):
            argv += [word for one in value for word in (option, str(one))]
        elif value not in (None, False):
            argv += [option, str(value)]
    return shlex.join([*argv, "--seed", str(stored.seed)])


def probes(told: Document) -> str:
    """One row a probe, in order: which toggles were bad, and what it showed."""
    return table(*probe_rows(told))


def probe_rows(told: Document) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and the rows of that table."""
    rows: list[tuple[str, ...]] = [
        (
            str(number),
            it["phase"],
            ", ".join(f"{key}={said(value)}" for key, value in it["toggles"].items()) or named(()),
            f"{it['units'][0]} of {it['units'][1]}",
            "; ".join(it["unknown"]),
        )
        for number, it in enumerate(told["probes"], 1)
    ]
    return ("probe", "phase", "bad", f"{told['outcome']} {told['unit']}s", "remark"), rows
