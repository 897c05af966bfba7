"""Pydantic's errors in a scenario file's words. One rule: no word of pydantic reaches a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.scenario.fields import the_bundled, workloads
from lab.scenario.problem import MISSING, Path, Problem, spell

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from lab.scenario.fields import Shape

TYPES = {
    "string": "text",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a number",
    "list": "a list",
    "dict": "a mapping",
    "model": "a mapping",
    "model_attributes": "a mapping",
}
LIMITS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
    "multiple_of": ("multiple_of", "a multiple of"),
    "too_short": ("min_length", "a list of at least"),
    "string_too_long": ("max_length", "text, its characters at most"),
}
NUMBERS: dict[Any, str] = {int: "a whole number", float: "a number"}


def problems(error: ValidationError, under: Path = (), shape: Shape | None = None) -> list[Problem]:
    """Every mistake of the file as a `Problem`; ``under`` is where the validated part stands."""
    return [problem(details, under, shape) for details in error.errors(include_url=False)]


def problem(details: ErrorDetails, under: Path = (), shape: Shape | None = None) -> Problem:
    """One of pydantic's errors, told in our words; ``shape`` is the file's, if not the bundled."""
    shape = shape or the_bundled()
    loc = (*under, *details["loc"])
    path, kind = _path(loc), details["type"]
    if kind == "extra_forbidden":
        return _unknown_key(path, shape.keys_at(loc[:-1]), shape)
    if kind == "missing":
        return Problem(path, MISSING, shape.accepted_at(path)[0])
    if kind == "value_error":
        return Problem(path, str(details["ctx"]["error"]))
    if kind.startswith("union_tag"):
        path = (*path, "kind")
        if kind == "union_tag_not_found":
            return Problem(path, MISSING, shape.accepted_at(path)[0])
    accepted = shape.accepted_at(path)
    return _wrong_value(path, details, bounds(loc), *accepted)


def bounds(loc: tuple[str | int, ...]) -> str:
    """What a load's number may be: ``a number, at least 0, at most 1000000``; else nothing.

    ``loc`` ends with the load's kind and the key.
    """
    match loc:
        case ("workload", str(kind), str(key)) if kind in workloads():
            field = workloads()[kind].model_fields.get(key)
            if field is not None and field.annotation in NUMBERS:
                phrases = dict(LIMITS.values())
                limits = [
                    f"{phrase} {getattr(found, name)}"
                    for found in field.metadata
                    for name, phrase in phrases.items()
                    if hasattr(found, name)
                ]
                return ", ".join([NUMBERS[field.annotation], *limits])
    return ""


def _unknown_key(path: Path, keys: tuple[str, ...], shape: Shape) -> Problem:
    given = str(path[-1])
    accepted = ", ".join(keys)
    if len(path) == 1 and given in shape.toggles:
        accepted += f" (did you mean 'engine.{given}'?)"
    return Problem(path, "unknown key", accepted, given, keys)


def _wrong_value(
    path: Path, details: ErrorDetails, bound: str, words: str, options: tuple[str, ...]
) -> Problem:
    kind, given, ctx = details["type"], details.get("input"), details.get("ctx", {})
    if isinstance(given, dict) and "kind" in given and path == ("workload", "kind"):
        given = given["kind"]
    words = words or bound
    if not words and kind in LIMITS:
        name, phrase = LIMITS[kind]
        words = f"{phrase} {ctx[name]}"
    if not words:
        words = TYPES.get(kind.rsplit("_", 1)[0], "text" if kind.startswith("string") else "")
    named = given if isinstance(given, str) else ""
    what = "is empty" if kind == "too_short" else f"{spell(given)} is not accepted"
    hint = {"on": "true", "yes": "true", "off": "false", "no": "false"}.get(named.casefold())
    if hint and "true" in options:
        return Problem(path, what, f"{words} (did you mean {hint!r}?)")
    return Problem(path, what, words, named, options)


def _path(loc: tuple[str | int, ...]) -> Path:
    """The location without the tag that a union of workloads adds to it."""
    if len(loc) > 1 and loc[0] == "workload" and loc[1] in workloads():
        loc = (loc[0], *loc[2:])
    return tuple(step for step in loc if step != "[key]")
