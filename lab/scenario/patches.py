"""Options that change a scenario before it is checked: `--set`, `--seed`.

One rule: a mistake in an option is told of the option, not of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lab.errors import ScenarioError
from lab.scenario.document import Patch

ANOTHER = re.compile(r",\s*(?P<patch>[a-z_][a-z_0-9]*(\.\w+)*=.*)")  # what looks like a second one
FREE_TEXT = ("about", "name")


def patches(sets: Sequence[str], seed: int | None = None) -> list[Patch]:
    """The patches in the order in which they apply; raises `ScenarioError` on a malformed one."""
    made = [parse_set(text) for text in sets]
    if seed is not None:
        made.append(Patch(("seed",), seed, f"--seed {seed}"))
    return made


def parse_set(text: str) -> Patch:
    """`engine.radix=false` as a patch; the value is read as YAML, whole numbers index lists."""
    option = f"--set {text}"
    dotted, equals, value = text.partition("=")
    steps = dotted.strip().split(".")
    if not equals or not all(steps):
        raise ScenarioError(f"{option}: not a patch; accepted: key.of.the.scenario=value")
    following = ANOTHER.search(value)
    if following and steps[-1] not in FREE_TEXT:
        again = f"--set {following['patch']}"
        raise ScenarioError(f"{option}: one key and its value; repeat --set for the next: {again}")
    keys = tuple(int(step) if step.isdecimal() else step for step in steps)
    return Patch(keys, value_of(value, option), option)


def value_of(text: str, option: str) -> Any:
    """The YAML value that an option spells; raises `ScenarioError` in one line."""
    try:
        return YAML().load(text)
    except (YAMLError, ValueError, RecursionError):
        raise ScenarioError(f"{option}: the value is not YAML") from None
