"""Which settings a server runs with, beside those that it was asked to. One rule: a value that
cannot be read is no difference; what was never asked for cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.profiles.readback import same
from lab.targets.documents import MODELS, fetched, info_of, read_json, served_models

if TYPE_CHECKING:
    import httpx

    from lab.launching.servers import Server
    from lab.profiles import Profile
    from lab.profiles.readback import Readback


class Setting(NamedTuple):
    """What a setting was asked to be and what it is, None where that is not known; ``alike`` where
    the server is known to make the one of the other.
    """

    key: str
    asked: Any
    effective: Any
    where: str
    alike: bool = False

    @property
    def differs(self) -> bool:
        """Whether the server runs with something else."""
        known = self.effective is not None and not self.alike
        return known and not same(self.asked, self.effective)

    def fields(self) -> dict[str, str]:
        """As an event has it."""
        told = {"asked": spelled(self.asked), "effective": spelled(self.effective)}
        return {"key": self.key, **told, "where": self.where}


async def settings_read(
    http: httpx.AsyncClient,
    server: Server,
    profile: Profile,
    found: Mapping[str, Any],
    asked: Mapping[str, Any],
) -> list[Setting]:
    """Each setting that was asked for and that the profile knows how to read, as it is.

    ``found`` are the documents of the node that answers; other nodes are asked for theirs.
    """
    read = []
    for key, how in profile.readback.items():
        if asked.get(key) is not None:
            read.append(await _setting(key, asked[key], http, server, profile, found, how))
    return read


def model_served(asked: str, found: dict[str, Any]) -> Setting | None:
    """The model's name among those that are served; None where nothing can be said of it."""
    names = served_models(found)
    if not (asked and names):
        return None
    return Setting("model", asked, asked if asked in names else ", ".join(names), MODELS)


def spelled(value: Any) -> str:
    """A value as scenarios spell it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


async def _setting(
    key: str,
    asked: Any,
    http: httpx.AsyncClient,
    server: Server,
    profile: Profile,
    found: Mapping[str, Any],
    how: Readback,
) -> Setting:
    node = how.node or profile.endpoint
    if how.log:
        log = server.logs.get(node)
        told = log.read_text(errors="replace") if log and log.exists() else ""
        return Setting(key, asked, how.of_log(told), how.where)
    if node == profile.endpoint:
        document = info_of(found, how.json_path)
    else:
        document = read_json(await fetched(http, server.urls[node] + how.json_path))
    effective = how.of_json(document)
    return Setting(key, asked, effective, how.where, how.alike(asked, effective, document))
