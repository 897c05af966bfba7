"""Whether a load reads a host page that is its own, and writes device pages that are free to take.

One rule: a load states at its issue which generations it means, and each stage that lands looks
again. Each is one event a load, at the first stage that sees it:

- ``host_hit_on_unwritten_page``: a load reads a host page that no backup has filled since it was
  handed out; seen at the issue;
- ``host_page_changed_under_load``: a host page was handed on before a load out of it had landed;
- ``load_wrote_page_in_use``: a load writes a device page that a request, given it earlier, still
  uses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.cache.tiers import HostPage
    from engine.events import EventLog
    from engine.shadow.host_watch import HostWatch

Generations = tuple[int, int]  # of a host page: the anchor's, the sliding window's


class PageUsers(Protocol):
    """Who uses device pages now."""

    def stale_users(self, pages: Sequence[int]) -> list[tuple[str, int]]:
        """Requests that use one of ``pages`` and were given an older generation of it."""
        ...


@dataclass
class Load:
    """A load under way: host pages to device pages, one for one, and what was meant by them."""

    host: list[HostPage]
    device: list[int]
    meant: list[Generations]
    changed: bool = False  # reported
    victims: list[tuple[str, int]] = field(default_factory=list)  # reported


class LoadWatch:
    """Watches the loads of one host tier. ``generations`` of a host page are those of now."""

    def __init__(
        self,
        events: EventLog,
        users: PageUsers,
        generations: Callable[[HostPage], Generations],
        shadow: HostWatch,
    ) -> None:
        self.events, self.users, self._now = events, users, generations
        self._shadow = shadow
        self._written: dict[int, Generations] = {}  # anchor page -> what a backup filled

    def meant(self, host: Sequence[HostPage]) -> list[Generations]:
        """The generations of host pages at the issue of a copy."""
        return [self._now(page) for page in host]

    def written(self, host: Sequence[HostPage], meant: Sequence[Generations]) -> None:
        """A backup, issued when the pages were of these generations, has landed."""
        self._written.update(zip((page.anchor for page in host), meant, strict=True))

    def issued(self, host: Sequence[HostPage], device: Sequence[int]) -> Load:
        """A load begins."""
        load = Load(list(host), list(device), self.meant(host))
        filled = [self._written.get(page.anchor) for page in host]
        self._differing(load, filled, "host_hit_on_unwritten_page")
        return load

    def landing(self, load: Load) -> None:
        """A stage of the load is about to move its bytes."""
        if not load.changed:
            now = self.meant(load.host)
            load.changed = self._differing(load, now, "host_page_changed_under_load")
        users = self.users.stale_users(load.device)
        new = [user for user in users if user not in load.victims]
        load.victims += new
        if new:
            victim, page = new[0]
            host = load.host[load.device.index(page)].anchor
            about = self._shadow.about_loads(self._shadow.loads_into([page]))
            if about:
                about["edge"] = f"{about['writer']} did not wait for {victim} to give its page back"
            self.events.violation(
                "load_wrote_page_in_use",
                n=len(new),
                victim=victim,
                page=page,
                host_page=host,
                **about,
            )

    def _differing(
        self, load: Load, generations: Sequence[Generations | None], violation: str
    ) -> bool:
        """Whether a host page is not of the generation meant; the first is named."""
        found = zip(load.host, load.device, load.meant, generations, strict=True)
        bad = [(host, device) for host, device, meant, is_ in found if meant != is_]
        if bad:
            host, page = bad[0]
            about = self._shadow.about_host(host.anchor)
            self.events.violation(violation, n=len(bad), host_page=host.anchor, page=page, **about)
        return bool(bad)
