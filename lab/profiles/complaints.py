"""Pydantic's errors in a profile's words. One rule: no word of pydantic reaches a user."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel

from lab.profiles.models import Profile
from lab.scenario.complaints import LIMITS, TYPES
from lab.scenario.problem import MISSING, Path, Problem, spell

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

OWN = ("path",)  # the loader's, no key of a file
PATTERNS = {
    "status": "'run: ...' or 'not run by us: ...'",
    "path": "a path that begins with /",
    "json": "a path that begins with /",
}


def problems(error: ValidationError) -> list[Problem]:
    """Every mistake of the file as a `Problem`; a list is not too short where an item is wrong."""
    found = [_problem(details) for details in error.errors(include_url=False)]
    paths = [one.path for one in found]
    return [one for one in found if not any(_within(path, one.path) for path in paths)]


def _within(path: Path, other: Path) -> bool:
    return len(path) > len(other) and path[: len(other)] == other


def _problem(details: ErrorDetails) -> Problem:
    loc, kind, given = details["loc"], details["type"], details.get("input")
    path: Path = tuple(step for step in loc if step != "[key]" and step not in _KINDS)
    if kind == "extra_forbidden":
        keys = keys_at(path[:-1])
        return Problem(path, "unknown key", ", ".join(keys), str(path[-1]), keys)
    if kind == "missing":
        return Problem(path, MISSING)
    ctx = details.get("ctx", {})
    if kind in LIMITS:
        name, phrase = LIMITS[kind]
        return Problem(path, f"{spell(given)} is not accepted", f"{phrase} {ctx[name]}")
    words = TYPES.get(kind.rsplit("_", 1)[0].replace("tuple", "list"), "text")
    if kind == "literal_error":
        words = str(ctx["expected"]).replace("'", "").replace(" or ", ", ")
    if kind == "string_pattern_mismatch":
        words = PATTERNS.get(str(path[-1]), "a name of small letters, digits and _")
    named = given if isinstance(given, str) else ""
    return Problem(path, f"{spell(given)} is not accepted", words, named, tuple(words.split(", ")))


_KINDS = ("bool", "int", "float", "str")  # the tags of a union's members


def keys_at(path: Path) -> tuple[str, ...]:
    """The keys of the mapping at ``path``."""
    kind: Any = Profile
    for step in path:
        kind = _inside(kind, step)
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return ()
    names = [field.alias or name for name, field in kind.model_fields.items()]
    return tuple(name for name in names if kind is not Profile or name not in OWN)


def _inside(kind: Any, step: str | int) -> Any:
    """The type of what stands at ``step`` of a value of type ``kind``."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        named = {field.alias or name: field for name, field in kind.model_fields.items()}
        return named[str(step)].annotation if str(step) in named else None
    if get_origin(kind) in (tuple, list):
        return get_args(kind)[0]
    if get_origin(kind) is dict:
        return get_args(kind)[1]
    if get_origin(kind) in (Union, types.UnionType):
        return next((arg for arg in get_args(kind) if arg is not type(None)), None)
    return None
