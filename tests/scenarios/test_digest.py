"""One seed and one configuration give one history, in this process and in a fresh one."""

import subprocess
import sys

import pytest

from tests.scenarios.whole import run, scenario

NAME, ARM = "incidents/padded_scatter_stale_slots", "bf16, graph on"
FRESH = f"""
from tests.scenarios.whole import run, scenario
print(run(scenario({NAME!r}, 3), {ARM!r})[0].history_digest)
"""


@pytest.fixture(scope="module")
def digest() -> str:
    return run(scenario(NAME, 3), ARM)[0].history_digest


def test_the_same_seed_gives_the_same_digest_again(digest: str) -> None:
    assert run(scenario(NAME, 3), ARM)[0].history_digest == digest


def test_the_same_seed_gives_the_same_digest_in_a_fresh_process(digest: str) -> None:
    said = subprocess.run(
        [sys.executable, "-c", FRESH], capture_output=True, text=True, check=True, timeout=300
    )
    assert said.stdout.strip() == digest


def test_another_seed_gives_another_digest(digest: str) -> None:
    assert run(scenario(NAME, 3), ARM, seed=1)[0].history_digest != digest
