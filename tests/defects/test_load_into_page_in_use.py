"""load_into_page_in_use: a restore writes over the pages of a request that is still running."""

from __future__ import annotations

from engine.cache.questions import CacheQuestions
from engine.defects.load_into_page_in_use import IntoItsFormerPages
from tests.engine.cache.two_tiers import Reader, World


def restored_beside_another(ask: CacheQuestions) -> tuple[World, Reader, dict[int, int]]:
    """A request runs in pages of which some were `ab`'s; then `ab` comes back."""
    world = World(pages=6, ask=ask, order="lifo")
    world.serve("ab")
    world.cache.evict(2)
    victim = world.admit("wxyz")
    assert victim is not None
    world.work(world.launch([victim]))
    given = {page: world.pool.generation_of(page) for page in victim.pages}
    match = world.match("ab")
    world.cache.pin(match.node)
    assert world.cache.load_back(match, world.take) is not match
    world.cache.launched()
    world.settle()
    return world, victim, given


def lost(world: World, victim: Reader) -> int:
    """How many pages of the victim hold something else."""
    right = ["wxyz"[: i + 1] for i in range(4)]
    found = [world.device.read(page)[-1] for page in victim.pages]
    return sum(a != b for a, b in zip(right, found, strict=True))


def test_the_request_s_pages_are_the_prefix_s_and_have_another_generation() -> None:
    world, victim, given = restored_beside_another(CacheQuestions(load_target=IntoItsFormerPages()))
    taken = [page for page in victim.pages if world.cache.owner_of(page)]
    assert taken and lost(world, victim) == len(taken)
    changed = [page for page, at in given.items() if world.pool.generation_of(page) != at]
    assert sorted(changed) == sorted(taken)


def test_a_healthy_build_restores_into_pages_of_nobody() -> None:
    world, victim, given = restored_beside_another(CacheQuestions())
    assert lost(world, victim) == 0
    assert all(world.pool.generation_of(page) == at for page, at in given.items())
    world.check()


def test_pages_that_nobody_took_meanwhile_are_taken_properly() -> None:
    world = World(ask=CacheQuestions(load_target=IntoItsFormerPages()), order="lifo")
    world.serve("ab")
    world.cache.evict(2)
    world.serve("ab")
    world.check()
