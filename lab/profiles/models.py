"""A launch profile, parsed and frozen. One rule: what a server is called and told stands in YAML.

A profile says how a server of some kind is started, which of its options bisection may flip, how
their effective values are read back, and which of its metrics are our exposure counters.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lab.profiles.readback import Readback
from lab.profiles.toggles import ProfileToggle

if TYPE_CHECKING:
    from lab.toggles.registry import Toggle

Words = Annotated[tuple[str, ...], Field(strict=False)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
PORT = "port"  # of every node; what else it listens on it names under `ports`


class Frozen(BaseModel):
    """A profile's mapping: no key but its own, no value of another type, never changed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Ready(Frozen):
    """A node is ready once a GET of ``path`` answers 200, which it must within ``timeout_s``."""

    path: Annotated[str, Field(pattern="^/")] = "/health"
    timeout_s: Annotated[float, Field(gt=0, le=86_400, strict=False)] = 600.0


class Node(Frozen):
    """One process: its command as a shell would read it, with ``{placeholders}`` in its words.

    ``ports`` names what it listens on beside ``port``.
    """

    name: Name
    command: Annotated[str, Field(min_length=1)]
    env: dict[str, str] = {}
    cwd: str = ""
    ports: Words = ()
    ready: Ready = Ready()


class Exposure(Frozen):
    """Where a server counts, and which of our counters each of its own is.

    The key of a counter is a metric as Prometheus writes it, with the labels that it must have
    (``name{label="value"}``), or a dotted key of a JSON document. Series that differ in other
    labels are summed, over ``nodes`` too (none: the node that answers).
    """

    path: Annotated[str, Field(pattern="^/")] = "/metrics"
    form: Literal["prometheus", "json"] = "prometheus"
    nodes: Words = ()
    counters: dict[str, str] = {}


class Profile(Frozen):
    """One kind of server. Nodes start in their order, each once the one before it is ready.

    ``params`` are texts by name, None where the user must give one; ``build`` is the command's
    words for each defect of a build, none where the server takes no build.
    """

    name: Name
    about: str
    status: Annotated[str, Field(pattern=r"^(run|not run by us): .")]
    params: dict[str, str | None] = {}
    nodes: Annotated[tuple[Node, ...], Field(min_length=1, strict=False)]
    endpoint: str
    model: str = ""
    build: Words = ()
    options: dict[Name, ProfileToggle] = Field(default={}, alias="toggles")
    readback: dict[str, Readback] = {}
    exposure: Exposure = Exposure()
    path: Path = Path()

    @cached_property
    def toggles(self) -> Mapping[str, Toggle]:
        """The profile's own toggles, as scenarios and bisection know them; default None: the
        server decides, and its command says nothing of it.
        """
        return {key: option.toggle(key) for key, option in self.options.items()}

    @property
    def defaults(self) -> dict[str, Any]:
        """Every toggle's default by key."""
        return {key: option.default for key, option in self.options.items()}

    @property
    def ports(self) -> tuple[str, ...]:
        """Every port that a boot needs, as ``node.port``."""
        return tuple(f"{n.name}.{port}" for n in self.nodes for port in (PORT, *n.ports))

    @property
    def run_by_us(self) -> bool:
        """Whether the profile was ever run against the real server."""
        return self.status.startswith("run:")

    def node(self, name: str) -> Node:
        """The node of that name; raises `KeyError`."""
        return {node.name: node for node in self.nodes}[name]
