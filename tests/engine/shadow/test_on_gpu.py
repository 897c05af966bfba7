"""The shadow memory at level full beside a GPU: it looks at bytes there, and finds what it does on
a CPU. Whether a store of latents left what it was given is looked at on a CPU alone.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.captured_runs import STALE, serve, violations
from tests.engine.captured_runs import config as captured
from tests.engine.shadow.perturbations import (
    Meddle,
    block_byte,
    key_byte,
    key_of_another,
    latent_bytes,
    next_token,
    table_names_a_free_page,
    window_byte,
)
from tests.engine.shadow.test_self_test import cases
from tests.engine.test_tiers import TOGGLES, a_conversation_goes_on, named
from tests.engine.waves import config, play

pytestmark = pytest.mark.gpu

FULL: dict[str, Any] = {"device": "cuda", "ledger": "full"}
CHANGES = [
    *(window_byte, key_byte, block_byte, latent_bytes),
    *(key_of_another, table_names_a_free_page, next_token),
]


@pytest.mark.parametrize("toggles", [{"graph": True}, *TOGGLES[::3]], ids=named)
def test_a_healthy_engine_is_told_of_nothing(toggles: dict[str, Any]) -> None:
    play(config(**FULL, **toggles), a_conversation_goes_on)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_a_step_reads_is_found_by_its_name(change: Meddle, graph: bool) -> None:
    captured(device="cuda")  # or skip
    made = cases([0, 1], change, device="cuda", graph=graph)
    assert made and all(case.right for case in made), [str(case) for case in made]


def test_the_lane_of_a_replay_that_wrote_a_row_is_named_by_who_reads_it() -> None:
    engine, _ = serve(captured(**FULL, build=(STALE,), index_k="bf16"))
    read = [it for it in violations(engine) if it["name"] == "read_foreign_row"]
    assert read
    assert all(it["writer_kind"] == "padding" and it["pool"] == "index_k" for it in read)
    assert all(str(it["writer"]).startswith("padding lane") for it in read)
