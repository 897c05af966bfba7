"""A device is asked for before anything is built on it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine import clock
from engine.config import EngineConfig
from engine.devices import check_device, choose, wait_for
from engine.engine import Engine
from engine.errors import ConfigError


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[Any]:
    """As many GPUs as the test asks for; the list of those that were made current."""
    chosen: list[Any] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: request.param > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: request.param)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (8, 9))
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    return chosen


@pytest.mark.parametrize("gpus", [0], indirect=True)
@pytest.mark.parametrize("name", ["cuda", "cuda:0"])
def test_without_a_gpu_there_is_the_cpu(gpus: list[Any], name: str) -> None:
    choose("cpu")
    wait_for("cpu")
    with pytest.raises(ConfigError, match=f"^device is '{name}': no CUDA device here; acc.*: cpu$"):
        choose(name)
    assert gpus == []


@pytest.mark.parametrize("gpus", [2], indirect=True)
def test_a_gpu_is_taken_by_its_number_or_the_first(gpus: list[Any]) -> None:
    choose("cuda")
    choose("cuda:1")
    assert gpus == [torch.device("cuda:0"), torch.device("cuda:1")]
    with pytest.raises(ConfigError, match="CUDA devices here: 2; accepted: cpu, cuda, cuda:0, cu"):
        check_device("cuda:2")


@pytest.mark.parametrize("gpus", [1], indirect=True)
def test_a_gpu_without_e4m3_is_refused(gpus: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (8, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA A100")
    why = r"^device is 'cuda': NVIDIA A100 \(sm_80\) has no e4m3; at least sm_89$"
    with pytest.raises(ConfigError, match=why) as caught:
        choose("cuda")
    assert caught.value.keys == ("device",)
    assert gpus == []


@pytest.mark.parametrize("gpus", [0], indirect=True)
def test_an_engine_for_a_device_that_is_not_here_is_not_built(gpus: list[Any]) -> None:
    async def main() -> None:
        Engine(EngineConfig(device="cuda"))

    with pytest.raises(ConfigError, match="no CUDA device here") as caught:
        clock.run(main())
    assert caught.value.keys == ("device",)
