"""Which configurations and which culprits there are."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.bisect.space import Config, Space

NAMES = tuple("abcdefg")


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """Up to seven toggles, each of which may need earlier ones."""
    keys = NAMES[: draw(st.integers(1, len(NAMES)))]
    needs = {
        key: frozenset(draw(st.sets(st.sampled_from(keys[:i]), max_size=2)))
        for i, key in enumerate(keys)
        if i and draw(st.booleans())
    }
    return Space(keys, needs)


def has_what_it_needs(space: Space, bad: frozenset[str]) -> bool:
    """The definition, without bits."""
    return all(space.needs.get(key, frozenset()) <= bad for key in sorted(bad))


@given(spaces())
def test_exactly_the_masks_that_have_what_they_need_are_configurations(space: Space) -> None:
    valid = [
        mask
        for mask in range(1 << len(space.toggles))
        if has_what_it_needs(space, space.config(mask).bad)
    ]
    assert space.configs.tolist() == valid
    assert all(space.valid(mask) for mask in valid)


@given(spaces(), st.integers(0, 127))
def test_keys_and_masks_are_one_and_the_same(space: Space, bits: int) -> None:
    mask = bits & ((1 << len(space.toggles)) - 1)
    assert space.mask(space.keys(mask)) == mask
    assert space.config(mask).bad == frozenset(space.keys(mask))


@given(spaces(), st.integers(0, 3))
def test_culprits_are_what_a_few_toggles_bring_with_them_smallest_first(
    space: Space, most: int
) -> None:
    culprits = space.culprits(most)
    small = [mask for mask in space.configs.tolist() if generators(space, mask) <= most]
    assert sorted(culprits) == small
    sizes = [space.size(mask) for mask in culprits]
    assert sizes == sorted(generators(space, mask) for mask in culprits)
    assert culprits[0] == 0


def generators(space: Space, mask: int) -> int:
    """The fewest toggles that need, in the end, all of a configuration; by trying them."""
    keys = space.keys(mask)
    return next(
        size
        for size in range(len(keys) + 1)
        if any(space.closed(space.mask(some)) == mask for some in combinations(keys, size))
    )


def test_a_toggle_with_a_chain_of_needs_is_one_toggle() -> None:
    chain = {"d": frozenset("c"), "c": frozenset("b"), "b": frozenset("a")}
    space = Space(NAMES, chain)
    assert space.closed(space.mask("d")) == space.mask("abcd")
    assert space.size(space.mask("abcd")) == 1
    assert space.size(space.mask("abcdg")) == 2
    assert space.mask("abcd") in space.culprits(1)


@given(spaces(), st.data())
def test_without_a_toggle_the_largest_valid_rest_is_left(space: Space, data: st.DataObject) -> None:
    mask = data.draw(st.sampled_from(space.configs.tolist()))
    key = data.draw(st.sampled_from(space.toggles))
    left = space.without(mask, key)
    gone = space.mask([key])
    rests = [m for m in space.configs.tolist() if m & ~mask == 0 and m & gone == 0]
    assert left in rests
    assert all(rest & ~left == 0 for rest in rests)


@given(spaces(), st.data())
def test_within_a_configuration_its_own_subsets_are_left(space: Space, data: st.DataObject) -> None:
    mask = data.draw(st.sampled_from(space.configs.tolist()))
    inner = space.within(mask)
    inside = [m for m in space.configs.tolist() if m & ~mask == 0]
    assert sorted(space.mask(inner.keys(m)) for m in inner.configs.tolist()) == inside


def test_a_toggle_that_needs_another_is_good_with_it() -> None:
    space = Space(("pd", "queue_size", "graph"), {"queue_size": frozenset({"pd"})})
    assert space.keys(space.without(space.mask(space.toggles), "pd")) == ("graph",)
    assert not space.valid(space.mask(["queue_size"]))


def test_a_configuration_without_a_toggle_keeps_its_levels() -> None:
    config = Config(frozenset({"graph", "concurrency"}), (("concurrency", 4),))
    assert config.without("graph") == Config(frozenset({"concurrency"}), (("concurrency", 4),))


def test_more_toggles_than_a_search_can_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="17 toggles; at most 16"):
        Space(tuple(f"t{i}" for i in range(17)))
