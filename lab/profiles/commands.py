"""From a profile to the commands of a boot. One rule: pure; what is shown is what is run.

Placeholders in the words of a command:

    {param}           a parameter of the profile
    {port}            the node's own port; {node.port}, {node.name} those of any node
    {this_python}     the interpreter that kvlab runs under
    {here}            the folder of the profile's file
    {toggles*}        the words of the toggles that concern the node
    {build*}          the words of the build; {defect} in them is each of its defects
    {param*}          a parameter, read as a shell would: none, one or many words
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.errors import UserError

if TYPE_CHECKING:
    from lab.profiles.models import Node, Profile

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_.]*)(\*?)\}")
EXAMPLE_PORT = 30_000
DEFECT = "defect"


@dataclass(frozen=True)
class NodeCommand:
    """One process to start: its words, the variables set for it, and its folder ('' is ours)."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""

    @property
    def line(self) -> str:
        """The command for a shell."""
        sets = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        into = [f"cd {shlex.quote(self.cwd)} &&"] if self.cwd else []
        return " ".join([*into, *sets, shlex.join(self.argv)])


def commands(
    profile: Profile,
    settings: Mapping[str, Any],
    params: Mapping[str, str],
    ports: Mapping[str, int],
    build: Sequence[str] = (),
) -> tuple[NodeCommand, ...]:
    """The commands of one boot, in the order in which they are started.

    ``settings`` are values by toggle; those of other toggles, the load's, are passed over, and one
    left out has its default. ``ports`` holds each of ``profile.ports``. Raises `UserError`.
    """
    if build and not profile.build:
        _one_fault(profile, build)
    known = _known(profile, params, ports)
    asked = {key: settings.get(key, found.default) for key, found in profile.toggles.items()}
    return tuple(_command(profile, node, asked, known, build) for node in profile.nodes)


def example_ports(profile: Profile, first: int = EXAMPLE_PORT) -> dict[str, int]:
    """Ports for a command that is shown and not run."""
    return {name: first + i for i, name in enumerate(profile.ports)}


def boot_key(
    profile: Profile,
    settings: Mapping[str, Any],
    params: Mapping[str, str],
    build: Sequence[str] = (),
) -> tuple[str, ...]:
    """What two arms must have in common to share a boot: their commands, whatever the ports."""
    found = commands(profile, settings, params, example_ports(profile), build)
    return tuple(command.line for command in found)


def model_name(profile: Profile, params: Mapping[str, str]) -> str:
    """The name under which the model is asked for; '' is the first that /v1/models lists."""
    return _fill(profile.model, _known(profile, params, {}))


def _one_fault(profile: Profile, build: Sequence[str]) -> None:
    """Raise `UserError` unless the build is one of the profile's faults."""
    accepted = ", ".join(profile.faults)
    if not accepted:
        raise UserError(f"profile {profile.name}: takes no build; its server is what it is")
    if len(build) > 1 or build[0] not in profile.faults:
        raise UserError(f"profile {profile.name}: a build is one of {accepted}")


def _known(profile: Profile, params: Mapping[str, str], ports: Mapping[str, int]) -> dict[str, str]:
    """What each placeholder stands for."""
    for name in params:
        if name not in profile.params:
            accepted = ", ".join(profile.params)
            raise UserError(f"profile {profile.name}: no parameter {name!r}; accepted: {accepted}")
    given = {**profile.params, **params}
    for name, value in given.items():
        if value is None:
            raise UserError(f"profile {profile.name}: parameter {name!r} must be given")
    python = {"this_python": sys.executable, "here": str(profile.path.parent.resolve())}
    texts = {name: _fill(value or "", python) for name, value in given.items()}
    numbers = {name: str(port) for name, port in ports.items()}
    return {**python, **numbers, **texts}


def _command(
    profile: Profile,
    node: Node,
    asked: Mapping[str, Any],
    known: Mapping[str, str],
    build: Sequence[str],
) -> NodeCommand:
    mine = {**known, **_own(node.name, known)}
    lists = {
        "toggles": [w for key, value in asked.items() for w in profile.words(key, value, node)],
        "build": [_fill(word, {**mine, DEFECT: one}) for one in build for word in profile.build],
    }
    argv: list[str] = []
    for word in shlex.split(node.command):
        many = PLACEHOLDER.fullmatch(word)
        if many and many[2]:
            argv += lists[many[1]] if many[1] in lists else shlex.split(mine[many[1]])
        else:
            argv.append(_fill(word, mine))
    env = {name: _fill(text, mine) for name, text in node.env.items()}
    for key, value in asked.items():
        env |= profile.variables(key, value, node)
    for fault in (profile.faults[name] for name in build if not profile.build):
        env |= {name: _fill(text, mine).strip() for name, text in fault.env.items()}
    return NodeCommand(node.name, tuple(argv), env, _fill(node.cwd, mine))


def _own(node: str, known: Mapping[str, str]) -> dict[str, str]:
    """A node's own ports by their short names."""
    mark = f"{node}."
    return {name.removeprefix(mark): text for name, text in known.items() if name.startswith(mark)}


def _fill(text: str, known: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: known[found[1]], text)
