"""From a profile's file to a `Profile`. One rule: a mistake is one line with file, line and key."""

from __future__ import annotations

import functools
from pathlib import Path

from pydantic import ValidationError

from lab.errors import ScenarioError
from lab.profiles.checks import check
from lab.profiles.complaints import problems
from lab.profiles.models import Profile
from lab.scenario.document import Document, read
from lab.scenario.problem import MISSING, Problem, did_you_mean

FOLDER = Path("scenarios/profiles")
SHIPPED = Path(__file__).parents[2] / FOLDER  # of the checkout that this code runs from


def load_profile(name_or_path: str | Path) -> Profile:
    """The profile of that name, or the one in that file; raises `ScenarioError`."""
    path = find(str(name_or_path))
    return parse_profile(read(path), str(path))


def parse_profile(text: str, file: str) -> Profile:
    """The profile that ``text`` holds; ``file`` is how errors name it. Raises `ScenarioError`."""
    document = Document(text, file, what="a launch profile")
    try:
        profile = Profile.model_validate({**document.plain(), "path": Path(file)})
    except ValidationError as error:
        raise _first(document, problems(error)) from None
    found = list(check(profile))
    if found:
        raise _first(document, found)
    return profile


def known() -> dict[str, Path]:
    """Every profile's file by name; one in the current folder stands before the shipped one."""
    found = {path.stem: path for folder in (SHIPPED, FOLDER) for path in folder.glob("*.yaml")}
    return dict(sorted(found.items()))


def find(name: str) -> Path:
    """The file of a profile; raises `ScenarioError` where there is none."""
    files, path = known(), Path(name)
    if name in files:
        return files[name]
    if path.suffix in (".yaml", ".yml") or "/" in name:
        return path
    hint = did_you_mean(name, files)
    raise ScenarioError(f"no launch profile {name!r}; accepted: {', '.join(files)}{hint}")


def _first(document: Document, found: list[Problem]) -> ScenarioError:
    """The mistake that stands first in the file; a missing key comes last."""
    first = min(found, key=functools.partial(_rank, document))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return ScenarioError(first.line(document.where(first.path)) + more)


def _rank(document: Document, problem: Problem) -> tuple[bool, int]:
    return problem.what == MISSING, int(document.where(problem.path).rpartition(":")[2])
