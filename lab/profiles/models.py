"""A launch profile, parsed and frozen. One rule: what a server is called and told stands in YAML.

A profile says how a server of some kind is started, which of its options bisection may flip, how
their effective values are read back, and which of its metrics are our exposure counters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lab.profiles.readback import Readback
from lab.profiles.toggles import ProfileToggle, spell
from lab.toggles import TOGGLES

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

    def concerned(self, nodes: tuple[str, ...]) -> bool:
        """Whether a toggle of these nodes is the node's; of none: it is where toggles are said."""
        return self.name in nodes if nodes else "{toggles*}" in self.command


class OurEngine(Frozen):
    """The server is the bundled engine: it has every toggle of ours that needs another engine.

    ``words`` are those of one that is not at its default, with ``{key}`` and ``{value}`` in them;
    ``json_path`` is the document whose keys are theirs.
    """

    words: Words
    json_path: str = Field(alias="json", pattern="^/")

    def said(self, key: str, value: Any) -> tuple[str, ...]:
        """What a toggle's value adds to a command."""
        texts = {"{key}": key, "{value}": spell(value)}
        return tuple(_replaced(word, texts) for word in self.words)


class Exposure(Frozen):
    """Where a server counts, and which of our counters each of its own is.

    The key of a counter is a metric as Prometheus writes it, with the labels that it must have
    (``name{label="value"}``), or a dotted key of a JSON document. Series that differ in other
    labels are summed, over ``nodes`` too (none: the node that answers). ``logs`` are counters of
    what the logs of these nodes say: patterns, each match counting one.
    """

    path: Annotated[str, Field(pattern="^/")] = "/metrics"
    form: Literal["prometheus", "json"] = "prometheus"
    nodes: Words = ()
    counters: dict[str, str] = {}
    logs: dict[str, str] = {}

    def of_log(self, text: str) -> dict[str, int]:
        """Our counters by name, as a log has them."""
        return {name: len(re.findall(regex, text)) for name, regex in self.logs.items()}


class Flush(Frozen):
    """How the server is told to forget its caches: asked of each of ``nodes`` (none: the node that
    answers), with 200 for an answer where it has.
    """

    path: Annotated[str, Field(pattern="^/")]
    method: Literal["POST", "GET"] = "POST"
    nodes: Words = ()


class Fault(Frozen):
    """What a build may put into a server that is not ours: variables for all of its nodes.

    ``rows`` finds in the log of the endpoint what the fault tells of itself: a pattern with one
    group, a JSON object.
    """

    about: str
    env: dict[str, str]
    rows: str


class Profile(Frozen):
    """One kind of server. Nodes start in their order, each once the one before it is ready.

    ``params`` are texts by name, None where the user must give one; ``build`` is the command's
    words for each defect of a build, none where the server takes no build; ``faults`` are what a
    build of another server may hold, one of them; ``engine`` is said of a server that is the
    bundled engine.
    """

    name: Name
    about: str
    status: Annotated[str, Field(pattern=r"^(run|not run by us): .")]
    params: dict[str, str | None] = {}
    nodes: Annotated[tuple[Node, ...], Field(min_length=1, strict=False)]
    endpoint: str
    model: str = ""
    build: Words = ()
    faults: dict[Name, Fault] = {}
    engine: OurEngine | None = None
    options: dict[Name, ProfileToggle] = Field(default={}, alias="toggles")
    readbacks: dict[str, Readback] = Field(default={}, alias="readback")
    exposure: Exposure = Exposure()
    flush: Flush | None = None
    path: Path = Path()

    @cached_property
    def toggles(self) -> Mapping[str, Toggle]:
        """The profile's own toggles, as scenarios and bisection know them; default None: the
        server decides, and its command says nothing of it.
        """
        own = {key: option.toggle(key) for key, option in self.options.items()}
        return {**self._bundled, **own}

    @cached_property
    def readback(self) -> Mapping[str, Readback]:
        """Where the effective value of a toggle is read, for those that can be read at all."""
        path = self.engine.json_path if self.engine else ""
        return {key: Readback(json=path, key=key) for key in self._bundled} | self.readbacks

    @property
    def ports(self) -> tuple[str, ...]:
        """Every port that a boot needs, as ``node.port``."""
        return tuple(f"{n.name}.{port}" for n in self.nodes for port in (PORT, *n.ports))

    @property
    def run_by_us(self) -> bool:
        """Whether the profile was ever run against the real server."""
        return self.status.startswith("run:")

    def words(self, key: str, value: Any, node: Node) -> tuple[str, ...]:
        """What a toggle's value adds to the command of a node."""
        option = self.options.get(key)
        if option is not None:
            return option.words(value) if node.concerned(option.nodes) else ()
        if self.engine is None or value == self.toggles[key].default:
            return ()
        return self.engine.said(key, value) if node.concerned(()) else ()

    def variables(self, key: str, value: Any, node: Node) -> dict[str, str]:
        """What a toggle's value adds to the environment of a node."""
        option = self.options.get(key)
        named = option is not None and node.concerned(option.nodes)
        return option.variables(value) if option is not None and named else {}

    @property
    def _bundled(self) -> dict[str, Toggle]:
        every = TOGGLES.all() if self.engine else {}
        return {key: found for key, found in every.items() if found.applies == "engine"}


def _replaced(word: str, texts: Mapping[str, str]) -> str:
    for mark, text in texts.items():
        word = word.replace(mark, text)
    return word
