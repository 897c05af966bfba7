"""What is meddled with before a step, and what that step must then find.

A change answers with what is to be found and how to undo it, or with None where it means nothing
at this moment. Nothing is done twice to one place: a reader is told of a bad row once.

A change of tags stands for a write that an operation made: they are as that would have left them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import numpy as np

from engine.config import PAGE_TOKENS
from engine.engine import Engine
from engine.request import Request
from engine.shadow.tags import RowTags
from kernels.layout import LayerView

ENTRIES = {"swa": 256, "c4": 64, "index_k": 64, "c128": 2}
OTHER = 12345  # a chain that no context has


class Change(NamedTuple):
    """``name`` is the violation to be found (`+`: each of several; empty: none), these fields
    alike in each.
    """

    name: str
    fields: Mapping[str, Any]
    undo: Callable[[], None]


@dataclass
class Site:
    """An engine before a step, and a request of it, whose row, or chunk, begins at ``position``."""

    engine: Engine
    req: Request
    position: int
    rng: Random
    done: set[Hashable] = field(default_factory=set)
    layers: int = 4  # of the window, that are read at positions before this one

    @property
    def full(self) -> int:
        """Pages of the context that hold 256 tokens."""
        return self.position // PAGE_TOKENS

    @property
    def allocator(self) -> Any:
        return self.engine.scheduler.holdings.allocator

    def group(self, pool: str, layer: int = 0) -> RowTags:
        assert self.engine.shadow is not None
        return self.engine.shadow.groups[pool, layer]

    def view(self, pool: str, layer: int = 0) -> LayerView:
        return next(each for each in self.engine.runner.pools.pools if each.name == pool).layers[
            layer
        ]

    def once(self, *place: Hashable) -> bool:
        """Whether nothing was done there before; from now on something was."""
        new = place not in self.done
        self.done.add(place)
        return new

    def slot(self, pool: str, position: int) -> int:
        """The slot of the row of a pool that pools a position."""
        page, at = self.req.pages[position // PAGE_TOKENS], position % PAGE_TOKENS
        return page * ENTRIES[pool] + at * ENTRIES[pool] // PAGE_TOKENS

    def recent(self) -> int:
        """A position of the window, written before."""
        return self.rng.randrange(max(0, self.position - 126), self.position)

    def entry(self, pool: str) -> int:
        """A position whose entry of a pool is complete; -1 where the context has none."""
        ratio = PAGE_TOKENS // ENTRIES[pool]
        count = self.position // ratio
        return self.rng.randrange(count) * ratio if count else -1


Meddle = Callable[[Site], "Change | None"]


def flip(site: Site, pool: str, layer: int, slots: Sequence[int]) -> Callable[[], None]:
    """Change one byte of each row, of the same plane at the same place; the answer undoes it."""
    view = site.view(pool, layer)
    plane = site.rng.choice(view.layout.planes)
    at, mask = site.rng.randrange(plane.row_bytes), site.rng.randrange(1, 256)
    page, entry = np.divmod(np.array(slots), view.layout.page_tokens)

    def turn() -> None:
        view.rows(plane.name)[page, entry, at] ^= mask

    turn()
    return turn


def changed(site: Site, pool: str, layer: int, slots: Sequence[int]) -> Change | None:
    """Bytes of rows that the step reads."""
    if not slots or sum(site.once(pool, slot) for slot in slots) < len(slots):
        return None
    known = {"pool": pool, "layer": layer, "page": slots[0] // site.view(pool).layout.page_tokens}
    if len(slots) == 1:
        known |= {"slot": slots[0], "n": 1}
    return Change("read_changed_bytes", known, flip(site, pool, layer, slots))


def window_byte(site: Site) -> Change | None:
    return changed(site, "swa", site.rng.randrange(site.layers), [site.slot("swa", site.recent())])


def key_byte(site: Site) -> Change | None:
    at = site.entry("index_k")
    return None if at < 0 else changed(site, "index_k", 0, [site.slot("index_k", at)])


def block_byte(site: Site) -> Change | None:
    at = site.entry("c128")
    return None if at < 0 else changed(site, "c128", 0, [site.slot("c128", at)])


def latent_bytes(site: Site) -> Change | None:
    """Every entry of the context: the step selects some of them, which are read."""
    slots = [site.slot("c4", at) for at in range(0, site.position - 3, 4)]
    made = changed(site, "c4", 0, slots) if site.once("latents", site.req.id) else None
    return made and made._replace(fields={"pool": "c4", "request": site.req.id})


def state_byte(site: Site) -> Change | None:
    """A state of the group that the row completes."""
    if site.position % 4 != 3:
        return None
    at = site.position - site.rng.randrange(1, 4)
    ring = site.req.pages[at // PAGE_TOKENS] * 8 + at % 8
    site.done.discard((pool := site.rng.choice(["c4_state", "index_state"]), ring))
    return changed(site, pool, 0, [ring]) if site.once("ring", pool, ring) else None


def unread_row(site: Site) -> Change | None:
    """A row that the window has left behind."""
    if site.position < 200:
        return None
    slot = site.slot("swa", site.rng.randrange(site.position - 180))
    return Change("", {}, flip(site, "swa", site.rng.randrange(4), [slot]))


def free_page(site: Site) -> Change | None:
    page = next(iter(site.allocator._free))
    return Change("", {}, flip(site, "swa", 0, [page * 256 + site.rng.randrange(256)]))


def padding(site: Site) -> Change | None:
    page = site.view("swa").pages[site.req.pages[0]]
    used = 256 * 584
    before = page[used:].clone()
    page[used:] = 0x55

    def back() -> None:
        page[used:] = before

    return Change("", {}, back)


def tag(
    site: Site, name: str, pool: str, layers: Sequence[int], at: int, **to: int
) -> Change | None:
    """Tags of the row of a position, as somebody's write would have left them."""
    if at < 0 or not site.once(pool, slot := site.slot(pool, at)):
        return None
    page, book = slot // ENTRIES[pool], site.engine.shadow.book  # type: ignore[union-attr]
    groups = [site.group(pool, layer) for layer in layers]
    before = [{key: int(getattr(group, key)[slot]) for key in to} for group in groups]

    def put(values: Sequence[Mapping[str, int]]) -> None:
        for group, tags in zip(groups, values, strict=True):
            for key, value in tags.items():
                getattr(group, key)[slot] = value
        book.touch([page])

    put([to] * len(groups))
    known = {"pool": pool, "slot": slot, "page": page, "n": 1}
    return Change(name, known, lambda: put(before))


def window_of_another(site: Site) -> Change | None:
    return tag(site, "read_foreign_row", "swa", range(4), site.recent(), chain=OTHER)


def torn_window(site: Site) -> Change | None:
    layers = [site.rng.randrange(4)]
    return tag(site, "read_torn_layers", "swa", layers, site.recent(), chain=OTHER)


def key_of_another(site: Site) -> Change | None:
    return tag(site, "read_foreign_row", "index_k", [0], site.entry("index_k"), chain=OTHER)


def key_of_nobody(site: Site) -> Change | None:
    return tag(site, "read_uninitialised_row", "index_k", [0], site.entry("index_k"), chain=0)


def key_of_the_last_owner(site: Site) -> Change | None:
    return tag(site, "read_uninitialised_row", "index_k", [0], site.entry("index_k"), take=0)


def table(site: Site, name: str, page: int) -> Change | None:
    """A full page of the context is another one, in the table that the step has."""
    index = site.rng.randrange(site.full)
    rewritten = site.position % PAGE_TOKENS == 0  # a page is gained: the row is written anew
    if rewritten or not site.once("table", site.req.id, page):
        return None
    row = site.engine.runner.table.pages[site.req.req_slot]
    mine = int(row[index])
    if mine != site.req.pages[index]:
        return None  # the row is not written yet
    row[index] = page

    def back() -> None:
        row[index] = mine

    return Change(name, {"page": page, "request": site.req.id}, back)


def table_names_a_free_page(site: Site) -> Change | None:
    return table(site, "read_after_free", next(iter(site.allocator._free))) if site.full else None


def table_names_a_page_of_another(site: Site) -> Change | None:
    others = [each for each in site.engine.scheduler.running if each is not site.req]
    pages = [page for each in others for page in each.pages[: each.kv_len // PAGE_TOKENS]]
    pages = [page for page in pages if page not in site.req.pages]
    if not pages or not site.full:
        return None
    return table(site, "read_foreign_row", site.rng.choice(pages))


def table_names_an_unwritten_page(site: Site) -> Change | None:
    """Taken, and kept: to give it back before the host has heard of the step would be a fault."""
    if not site.full or not site.allocator.available:
        return None
    return table(site, "read_uninitialised_row", site.allocator.allocate(1)[0])


def next_token(site: Site) -> Change | None:
    tokens, slot = site.engine.runner.table.next_token, site.req.req_slot
    tokens[slot] = (tokens[slot] + site.rng.randrange(1, 50)) % 128
    known = {"request": site.req.id, "position": site.position, "n": 1}
    return Change("token_of_another_row", known, lambda: None)


def page_is_freed(site: Site) -> Change | None:
    """For good: nothing undoes it."""
    page = site.req.pages[site.rng.randrange(site.full)]
    site.allocator.free([page])
    return Change("read_after_free", {"page": page, "state": "FREE"}, lambda: None)


def page_changes_hands(site: Site) -> Change | None:
    """For good: nothing undoes it."""
    page = site.req.pages[site.rng.randrange(site.full)]
    site.allocator.free([page])
    taken = site.allocator.allocate(1)
    assert taken == [page], "the page freed last is taken first"
    return Change("read_stale_generation", {"page": page}, lambda: None)


def page_list_names_a_free_page(site: Site) -> Change | None:
    """For good: the row goes there, and is missed in the page that the table still has."""
    if site.position // PAGE_TOKENS != len(site.req.pages) - 1:
        return None
    site.req.pages[-1] = next(iter(site.allocator._free))
    known = {"request": site.req.id, "n": 1}
    return Change("write_by_non_owner+read_uninitialised_row", known, lambda: None)
