"""A run as plain markdown, to be pasted into a bug report.

One rule: it holds what a reader needs to judge and to repeat the run: n, intervals, settings,
digests. Figures lie beside the file; text that is pasted elsewhere only names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from lab.repeats import whole
from lab.report import run_sections as run
from lab.report import words
from lab.report.origin import origin
from lab.report.repeats import repetitions
from lab.report.servers import servers
from lab.report.untested import untested

if TYPE_CHECKING:
    from lab.records import ArmHistory, Finding, RunVerdict
    from lab.report.section import Section
    from lab.store import StoredRun

NO_FIGURES: Mapping[str, str] = MappingProxyType({})
IMAGES = re.compile(r"(?:^!\[[^\]]*\]\([^)]+\)\n+)+", re.MULTILINE)
FILE = re.compile(r"\]\(([^)]+)\)")


def markdown(
    verdict: RunVerdict,
    stored: StoredRun | None = None,
    histories: Sequence[ArmHistory] = (),
    figures: Mapping[str, str] = NO_FIGURES,
    findings: Mapping[str, Sequence[Finding]] | None = None,
) -> str:
    """The whole report; ends with a newline.

    ``stored`` says where the run comes from, ``histories`` and ``findings`` what its arms left,
    ``figures`` which images lie beside the report, each with its caption.
    """
    settings = run.settings(verdict.arms)
    arms, boots = whole(verdict).arms, repetitions(verdict)
    open_ends = untested(verdict, stored, histories, findings or {}) if histories else []
    parts = [
        f"# {verdict.scenario}: run {verdict.run}",
        words.headline(verdict),
        *laid_out(run.rates(verdict)),
        *(laid_out(boots) if boots else []),
        *laid_out(run.exposure(arms)),
        *laid_out(run.wrong(arms)),
        *host_tiers(histories),
        *(part for section in servers(histories) for part in laid_out(section)),
        *(["## What was not tested", listed(open_ends)] if open_ends else []),
        *shown(figures),
        "## To repeat it",
        *([repeat(stored, histories)] if stored is not None else []),
        f"Seed {verdict.seed}; {words.took(verdict)}.",
        *settings.lines,
        table(settings.heads, settings.rows),
    ]
    return "\n\n".join(parts) + "\n"


def laid_out(section: Section) -> list[str]:
    """A heading, its table, its sentences as a list."""
    rows = [table(section.heads, section.rows)] if section.rows else []
    lines = [listed(section.lines)] if section.lines else []
    return [f"## {section.title}", *rows, *lines]


def listed(lines: Iterable[str]) -> str:
    """A line each."""
    return "\n".join(f"- {line}" for line in lines)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table; bars inside cells are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
    )


def shown(figures: Mapping[str, str]) -> list[str]:
    """The figures from the report's own folder, each with its caption for who cannot see it."""
    alts = {file: about.replace("[", "(").replace("]", ")") for file, about in figures.items()}
    found = [f"![{alt}]({file})" for file, alt in alts.items()]
    return ["## Figures", *found] if found else []


def pasted(text: str) -> str:
    """A report for an issue tracker: files cannot be pasted, so it says which to attach."""
    return IMAGES.sub(lambda found: f"Attach {', '.join(FILE.findall(found[0]))}.\n\n", text)


def host_tiers(histories: Sequence[ArmHistory]) -> list[str]:
    """What is not the same in both tiers, and the copies that ran; nothing where none did."""
    found = [it for it in (run.unlike_tiers(histories), run.copies(histories)) if it]
    return ["## Host tiers", *(table(it.heads, it.rows) for it in found)] if found else []


def repeat(stored: StoredRun, histories: Sequence[ArmHistory]) -> str:
    """The command as it was typed, the code under test, the load and the versions."""
    told = origin(stored, histories).lines()
    command = told.pop("command")
    lines = [f"- {what}: {text}" for what, text in told.items()]
    return "\n".join([f"```sh\n{command}\n```\n", *lines])
