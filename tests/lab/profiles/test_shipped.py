"""The shipped profiles, and the tables that tell of them."""

from __future__ import annotations

import pytest

from lab.profiles import known, load_profile
from lab.profiles.listing import BEGIN, END, README, markdown
from lab.scenario.loader import SHIPPED, listed
from lab.toggles import TOGGLES

NAMES = ("kvlab_serve", "sglang", "sglang_pd", "vllm", "vllm_pd")


def test_these_profiles_are_shipped() -> None:
    assert set(NAMES) <= set(known())


def test_a_profile_is_no_scenario() -> None:
    assert not {path.stem for path in listed(SHIPPED)} & set(NAMES)


def test_the_readme_has_the_tables_of_the_profiles() -> None:
    text = README.read_text(encoding="utf-8")
    held = text.partition(BEGIN)[2].partition(END)[0]
    assert held == f"\n\n{markdown()}\n", "python -c 'from lab.profiles.listing import write; ...'"


@pytest.mark.parametrize("name", NAMES)
def test_only_what_was_run_says_so(name: str) -> None:
    profile = load_profile(name)
    assert profile.run_by_us or "stand-in" in profile.status


def test_the_bundled_engine_served_has_every_toggle_of_the_engine() -> None:
    engine = {key for key, toggle in TOGGLES.all().items() if toggle.applies == "engine"}
    profile = load_profile("kvlab_serve")
    assert set(profile.toggles) == engine
    assert set(profile.readback) == engine
