"""What a check found. One rule: a probe is good where nothing is damaged and nothing said wrong;
of one that another kvlab made in another form nothing is said but that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.table import Table

from lab.probing.files import FORM


@dataclass(frozen=True)
class Report:
    """``damaged`` says of each file what is wrong with it; ``margins`` are the least, in nats, by
    which the right choice leads the next best: of what heads see, and of a token's logit.
    """

    folder: str
    options: dict[str, Any]
    damaged: tuple[str, ...] = ()
    context: int = 0  # tokens of the longest conversation
    tokens: int = 0  # tokens of replies that were compared
    wrong: int = 0
    first_wrong: str = ""
    margins: dict[str, float] = field(default_factory=dict)
    form: int | None = FORM

    @property
    def good(self) -> bool:
        """Whether engines may be judged by it."""
        return self.form == FORM and not self.damaged and not self.wrong and self.tokens > 0

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"good": self.good, **asdict(self)}


def table(report: Report) -> Table:
    """A line for each thing that was looked at."""
    found = Table(show_header=False, box=None)
    if report.form != FORM:
        found.add_row(report.folder, _other(report))
        return found
    options = ", ".join(f"{key} {value}" for key, value in report.options.items())
    found.add_row(report.folder, options)
    for said in report.damaged:
        found.add_row("damaged", said)
    if report.damaged:
        return found
    found.add_row("files", "as the closed form has them")
    if not report.tokens:
        room = report.options["context"]
        found.add_row("replies", f"no conversation fits in a context of {room}")
        return found
    wrong = f"{report.wrong} of {report.tokens:,} tokens wrong"
    first = f": {report.first_wrong}" if report.wrong else ""
    found.add_row("replies", f"{wrong}, in a context of {report.context:,}{first}")
    margins = ", ".join(f"{kind} {nats:.1f}" for kind, nats in report.margins.items())
    found.add_row("least margins", f"{margins} nats")
    return found


def _other(report: Report) -> str:
    """What to do with a folder that another kvlab made."""
    form = "a form without a number" if report.form is None else f"form {report.form}"
    return (
        f"made in {form} of the probe, and this kvlab has form {FORM}: "
        f"`kvlab probe make --out {report.folder}` makes it anew"
    )
