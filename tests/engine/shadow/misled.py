"""A model that selects what is not its row's, or does not store what it should; and all changes."""

from __future__ import annotations

from torch import Tensor

from engine.config import PAGE_TOKENS
from engine.shadow.stores import LatentStores
from kernels.layout import LayerView
from tests.engine.shadow.perturbations import (
    Change,
    Meddle,
    Site,
    block_byte,
    free_page,
    key_byte,
    key_of_another,
    key_of_nobody,
    key_of_the_last_owner,
    latent_bytes,
    next_token,
    padding,
    state_byte,
    table_names_a_free_page,
    table_names_a_page_of_another,
    table_names_an_unwritten_page,
    torn_window,
    unread_row,
    window_byte,
    window_of_another,
)


def choice(site: Site, name: str, slot: int) -> Change | None:
    """One of the c4 slots that the row selects is another one."""
    told = ("table", site.req.id, slot // 64) in site.done
    if told or site.position < 64 or not site.once("choice", site.req.id, slot):
        return None
    model, page = site.engine.runner.model, site.req.pages[0]
    select = model.select

    def selects(logits: Tensor, lens: Tensor, table: Tensor, k: int) -> Tensor:
        found = select(logits, lens, table, k).clone()
        found[table[:, 0] == page, site.rng.randrange(k)] = slot
        return found

    def back() -> None:
        model.select = select

    model.select = selects
    return Change(name, {"pool": "c4", "slot": slot, "n": 1, "request": site.req.id}, back)


def selects_a_free_page(site: Site) -> Change | None:
    page = next(iter(site.allocator._free))
    return choice(site, "read_after_free", page * 64 + site.rng.randrange(64))


def selects_a_page_of_another(site: Site) -> Change | None:
    others = [each for each in site.engine.scheduler.running if each is not site.req]
    pages = [page for each in others for page in each.pages if page not in site.req.pages]
    if not pages:
        return None
    return choice(site, "read_foreign_row", site.rng.choice(pages) * 64 + site.rng.randrange(64))


def selects_an_entry_to_come(site: Site) -> Change | None:
    page, entry = site.req.pages[site.position // PAGE_TOKENS], site.position % PAGE_TOKENS // 4
    if entry > 60:
        return None
    slot = page * 64 + site.rng.randrange(entry + 2, 64)
    return choice(site, "read_uninitialised_row", slot)


def store_is_lost(site: Site) -> Change | None:
    """The step's own row of one window layer is not stored."""
    layer, slot = site.rng.randrange(4), site.slot("swa", site.position)
    stores = site.engine.runner.model.ops.store_latent
    assert isinstance(stores, LatentStores)
    store, view = stores.store, site.view("swa", layer)

    def loses(dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None:
        store(dst, latent, slots, live & (slots != slot) if dst is view else live)

    def back() -> None:
        stores.store = store

    stores.store = loses
    known = {"pool": "swa", "layer": layer, "slot": slot, "n": 1}
    return Change("read_uninitialised_row", known, back)


CHANGES: tuple[Meddle, ...] = (
    window_byte,
    key_byte,
    block_byte,
    latent_bytes,
    state_byte,
    unread_row,
    free_page,
    padding,
    window_of_another,
    torn_window,
    key_of_another,
    key_of_nobody,
    key_of_the_last_owner,
    table_names_a_free_page,
    table_names_a_page_of_another,
    table_names_an_unwritten_page,
    next_token,
    selects_a_free_page,
    selects_a_page_of_another,
    selects_an_entry_to_come,
    store_is_lost,
)
