"""What a well-formed profile can still get wrong. One rule: a check yields, it never raises."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path as File
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from lab.profiles.commands import DEFECT, PLACEHOLDER
from lab.scenario.problem import Path, Problem, spell
from lab.toggles import TOGGLES

if TYPE_CHECKING:
    from lab.profiles.models import Node, Profile
    from lab.profiles.toggles import ProfileToggle


def check(profile: Profile) -> Iterator[Problem]:
    """Every mistake that only the whole profile shows."""
    if File(profile.path).stem != profile.name:
        yield Problem(("name",), f"{profile.name!r} is not the file's name")
    yield from _nodes(profile)
    for key, option in profile.options.items():
        yield from _toggle(profile, key, option)
    for key in profile.readbacks:
        yield from _readback(profile, key)
    yield from _known(("exposure", "nodes"), profile.exposure.nodes, _names(profile))
    if profile.flush is not None:
        yield from _known(("flush", "nodes"), profile.flush.nodes, _names(profile))
    for name, regex in profile.exposure.logs.items():
        yield from _regex(("exposure", "logs", name), regex)


def _names(profile: Profile) -> tuple[str, ...]:
    return tuple(node.name for node in profile.nodes)


def _known(path: Path, given: Iterable[str], names: tuple[str, ...]) -> Iterator[Problem]:
    for name in given:
        if name not in names:
            what = f"{name!r} is not known"
            yield Problem(path, what, ", ".join(names), name, names)


def _nodes(profile: Profile) -> Iterator[Problem]:
    names = _names(profile)
    yield from _known(("endpoint",), (profile.endpoint,), names)
    texts = tuple(profile.params)
    everywhere = ("this_python", "here", *texts, *profile.ports)
    yield from _filled(("model",), profile.model, ("this_python", *texts))
    for position, node in enumerate(profile.nodes):
        at: Path = ("nodes", position)
        if node.name in names[:position]:
            yield Problem((*at, "name"), f"{node.name!r} names a node already")
        accepted = (*everywhere, "port", *node.ports)
        yield from _command((*at, "command"), node, accepted, texts)
        for name, text in node.env.items():
            yield from _filled((*at, "env", name), text, accepted)
        yield from _filled((*at, "cwd"), node.cwd, accepted)
    for position, word in enumerate(profile.build):
        yield from _filled(("build", position), word, (DEFECT, *everywhere))
    for name, fault in profile.faults.items():
        for variable, text in fault.env.items():
            yield from _filled(("faults", name, "env", variable), text, everywhere)
        yield from _regex(("faults", name, "rows"), fault.rows, groups=1)


def _command(
    at: Path, node: Node, accepted: tuple[str, ...], texts: tuple[str, ...]
) -> Iterator[Problem]:
    try:
        words = shlex.split(node.command)
    except ValueError as error:
        yield Problem(at, f"is no command: {str(error).lower()}")
        return
    many = [found[1] for word in words for found in [PLACEHOLDER.fullmatch(word)] if found]
    lists = [name for name in many if f"{{{name}*}}" in words]
    yield from _known(at, lists, ("toggles", "build", *texts))
    for word in words:
        if not word.endswith("*}"):
            yield from _filled(at, word, accepted)


def _filled(at: Path, text: str, accepted: tuple[str, ...]) -> Iterator[Problem]:
    yield from _known(at, (found[1] for found in PLACEHOLDER.finditer(text)), accepted)


def _toggle(profile: Profile, key: str, option: ProfileToggle) -> Iterator[Problem]:
    at: Path = ("toggles", key)
    found = TOGGLES.all().get(key)
    if found is not None and found.applies == "load":
        yield Problem(at, "is a toggle of the load, which a profile cannot take over")
    yield from _known((*at, "nodes"), option.nodes, _names(profile))
    yield from _known((*at, "needs"), option.needs, tuple(profile.toggles))
    if option.type == "choice" and bool(option.values) == bool(option.choices):
        yield Problem(at, "a choice has either 'values' or 'flag' and 'choices'")
        return
    flagged = option.type in ("int", "float", "text") or option.choices
    if flagged and not option.flag and not option.env:
        yield Problem(at, "has no 'flag' and no 'env'")
    try:
        TypeAdapter(option.domain.type | None).validate_python(option.default)
    except ValidationError:
        words = option.domain.words
        yield Problem((*at, "default"), f"{spell(option.default)} is not accepted", words)


def _readback(profile: Profile, key: str) -> Iterator[Problem]:
    at, found = ("readback", key), profile.readbacks[key]
    yield from _known(at, (key,), tuple(profile.toggles))
    yield from _known((*at, "node"), filter(None, (found.node,)), _names(profile))
    if bool(found.json_path) == bool(found.log) or bool(found.json_path) != bool(found.key):
        yield Problem(at, "is either 'json' and 'key', or 'log'")
    if found.log and (found.given or found.step or found.means):
        yield Problem(at, "'given', 'step' and 'means' are of a 'key', not of a 'log'")
    if found.log:
        yield from _regex((*at, "log"), found.log, groups=1)


def _regex(at: Path, text: str, groups: int = 0) -> Iterator[Problem]:
    try:
        if re.compile(text).groups != groups:
            yield Problem(at, f"must have {('no groups', 'one group')[groups]}")
    except re.error as error:
        yield Problem(at, f"is no regular expression: {error}")
