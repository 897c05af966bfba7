"""One mistake in a scenario, and how it is told. One rule: always the same one line.

file:line: key: what is wrong; accepted: what is not (did you mean this?)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lab.errors import ScenarioError

Path = tuple[str | int, ...]  # where in the document: ("arms", 0, "radix")
MISSING = "is missing"


@dataclass(frozen=True)
class Problem:
    """A mistake at ``path``; ``options`` are the names among which a misspelt one is sought.

    ``others`` are the places that had to say what they say for it: an option there is to blame.
    """

    path: Path
    what: str
    accepted: str = ""
    given: str = ""
    options: tuple[str, ...] = ()
    others: tuple[Path, ...] = ()

    def line(self, where: str) -> str:
        """The line that the user reads; ``where`` is `file:line` or the option at fault."""
        key = f"{dotted(self.path)}: " if self.path else ""
        accepted = f"; accepted: {self.accepted}" if self.accepted else ""
        return f"{where}: {key}{self.what}{accepted}{did_you_mean(self.given, self.options)}"

    def error(self, where: str) -> ScenarioError:
        """The same, to be raised."""
        return ScenarioError(self.line(where))


def dotted(path: Path) -> str:
    """The path as `--set` spells it."""
    return ".".join(str(step) for step in path)


def did_you_mean(given: str, options: Iterable[str]) -> str:
    """` (did you mean X?)`, or nothing where nothing is near."""
    folded = {option.casefold(): option for option in options}
    near = difflib.get_close_matches(given.casefold(), folded, n=1, cutoff=0.6) if given else []
    return f" (did you mean {folded[near[0]]!r}?)" if near and folded[near[0]] != given else ""


def spell(value: Any) -> str:
    """A value as YAML spells it, short enough for one line."""
    words = {True: "true", False: "false", None: "null"}
    if value is None or isinstance(value, bool):
        return words[value]
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    try:
        text = repr(value)
    except ValueError:  # Python spells no whole number of more than 4,300 digits
        text = "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
