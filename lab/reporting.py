"""Reports of what is stored, written once more. One rule: nothing is run and nothing is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.bisecting.written import written_again
from lab.ended import verdict_of
from lab.report.document import document
from lab.report.markdown import pasted
from lab.report.written import MARKDOWN
from lab.running import write_report
from lab.store import BISECTION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.records import RunVerdict
    from lab.store import Results


@dataclass(frozen=True)
class Reported:
    """One report: the folder that it is in, and whose it is: a run's, or a bisection's."""

    folder: Path
    verdict: RunVerdict | None
    bisection: dict[str, Any] | None

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        if self.verdict is not None:
            return document(self.verdict)
        return self.bisection or {}

    def markdown(self) -> str:
        """As an issue tracker takes it: it names the figures that are to be attached."""
        return pasted((self.folder / MARKDOWN).read_text(encoding="utf-8"))


def reports(results: Results, named: Sequence[str], out: Path | None) -> list[Reported]:
    """Write the report of each run or bisection; ``out`` is the folder of one, or has one of each.

    Raises `UserError` where one is not known, or has no verdict, with none written.
    """
    meant = [results.meant(name) for name in named]
    found = []
    for kind, which in dict.fromkeys(meant):
        folder = out / which if out is not None and len(meant) > 1 else out
        if kind is BISECTION:
            told, where = written_again(results, which, folder)
            found.append(Reported(where, None, told))
        else:
            verdict = verdict_of(results, which)
            found.append(Reported(write_report(results, verdict, folder), verdict, None))
    return found
