"""What a scenario's `target:` names, and what may be set there. One rule: nothing is started or
asked here; a name, a URL or a profile's file is all that is read.

An API key is named by its environment variable and never held.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lab.toggles import TOGGLES

if TYPE_CHECKING:
    from lab.profiles import Profile
    from lab.toggles.registry import Toggle

OF_A_URL = ("model", "api_key_env", "flush", "max_requests_per_s")  # what may stand beside it
Kind = Literal["bundled", "url", "profile"]
BUNDLED = "bundled"
URL = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class TargetSpec:
    """The bundled engine, somebody's server, or a server that is launched for every arm.

    ``name`` is ``bundled``, the base URL without ``/v1``, or the profile's name or file; ``params``
    are the profile's.
    """

    kind: Kind
    name: str
    model: str = ""
    api_key_env: str = ""
    flush: str = ""
    max_requests_per_s: float = 0.0
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def bundled(self) -> bool:
        """Whether it is the engine in this process."""
        return self.kind == "bundled"

    @property
    def profile(self) -> Profile | None:
        """The launch profile; None where nothing is launched. Raises `UserError`."""
        return profile_of(self.name) if self.kind == "profile" else None

    @property
    def takes_build(self) -> bool:
        """Whether defects can be built into it: it is our engine, wherever it runs."""
        return self.bundled or bool(self.profile and self.profile.build)

    @property
    def faults(self) -> tuple[str, ...]:
        """What a build may hold where the server is not our engine: one of these."""
        return tuple(self.profile.faults) if self.profile else ()

    @property
    def toggles(self) -> dict[str, Toggle]:
        """What an arm may set: every toggle of the bundled engine; elsewhere those of the load, and
        the profile's own.
        """
        every = TOGGLES.all()
        if self.bundled:
            return every
        load = {key: found for key, found in every.items() if found.applies == "load"}
        return {**load, **(self.profile.toggles if self.profile else {})}

    def document(self) -> Any:
        """The value of `target:` that means this."""
        more = {key: value for key in OF_A_URL if (value := getattr(self, key))}
        if self.kind == "url" and more:
            return {"base_url": self.name, **more}
        return {"profile": self.name, **self.params} if self.params else self.name


THE_BUNDLED = TargetSpec("bundled", BUNDLED)


def base_url(text: str) -> str:
    """``http://host:port`` of a URL, whether or not it ends with ``/v1``; empty where it is none.

    >>> base_url("http://127.0.0.1:30000/v1/"), base_url("bundled")
    ('http://127.0.0.1:30000', '')
    """
    return text.rstrip("/").removesuffix("/v1") if URL.fullmatch(text) else ""


@functools.cache
def profile_of(name: str) -> Profile:
    """The profile of a name or a file, read once; raises `UserError`."""
    from lab.profiles import load_profile

    return load_profile(name)
