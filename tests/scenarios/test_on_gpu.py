"""On a GPU: what is healthy is clean by the wall's clock, padding corrupts inside real replays, and
by the virtual clock both devices leave one history.
"""

from __future__ import annotations

import pytest
import torch

from lab.records import NO_DIGEST
from tests.scenarios.whole import arms, run, scenario

HEALTHY, INCIDENT = "gpu/healthy_on_gpu", "gpu/padded_scatter_on_gpu"
SESSIONS = 8

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.mark.parametrize("arm", arms(HEALTHY))
def test_a_healthy_arm_is_clean_by_the_wall_s_clock(arm: str) -> None:
    history, verdict = run(scenario(HEALTHY, SESSIONS), arm)
    assert (verdict.verdict, verdict.seen) == ("clean", {})
    assert history.history_digest == NO_DIGEST


@pytest.mark.parametrize("arm", arms(INCIDENT))
def test_an_arm_of_the_incident_concludes_what_its_file_expects(arm: str) -> None:
    _, verdict = run(scenario(INCIDENT, SESSIONS), arm)
    assert verdict.verdict == verdict.expected
    assert set(verdict.expected_violations) <= set(verdict.seen)


def test_the_incident_leaves_one_history_on_both_devices() -> None:
    of = scenario(INCIDENT, SESSIONS)
    digests = [run(of, f"{device}, bf16, graph on")[0].history_digest for device in ("GPU", "CPU")]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("settings", ["index_k=fp8", "hicache=true", "overlap=true"])
def test_a_healthy_load_leaves_one_history_on_both_devices(settings: str) -> None:
    digests = [
        run(
            scenario(
                HEALTHY,
                SESSIONS,
                "clock=virtual",
                *(f"engine.{it}" for it in (settings, f"device={device}")),
            ),
            "fp8, graph on",
        )[0].history_digest
        for device in ("cuda", "cpu")
    ]
    assert digests[0] == digests[1]
