"""What a kernel may ask of the GPU that it is launched on."""

from collections.abc import Iterator

import pytest
import torch

from kernels import jit
from kernels.stored_rows import StorePlan


@pytest.fixture
def _compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(jit, "INTERPRETED", False)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    jit.capability.cache_clear()
    yield
    jit.capability.cache_clear()


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize(
    ("capability", "able"), [((8, 9), False), ((9, 0), True), ((10, 0), True)], ids=str
)
def test_launches_overlap_only_on_a_gpu_that_can(
    capability: tuple[int, int], able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        torch.cuda, "get_device_capability", lambda device: asked.append(device) or capability
    )
    plan = StorePlan(4, 1, parts=4)
    for _ in range(2):
        assert jit.overlaps() == able
        assert plan.start == (plan.began if able else "alone")
        assert ("launch_pdl" in plan.options) == able
    assert asked == [0]
    assert StorePlan(4, 1, 4, "alone").start == "alone"


def test_interpreted_launches_never_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "INTERPRETED", True)
    assert not jit.overlaps()
