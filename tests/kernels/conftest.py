"""Every test of an operation runs on both implementations, fresh memory full of NaN."""

from collections.abc import Iterator

import pytest
import torch

from kernels import jit
from kernels.ops import Ops
from kernels.page_digest import _page_digest_kernel
from tests.kernels.on_device import on_device


def _kernels_run() -> bool:
    """Whether Triton interprets here (decided when kernels were imported)."""
    return jit.AVAILABLE and type(_page_digest_kernel).__name__ == "InterpretedFunction"


IMPLEMENTATIONS = [
    "reference",
    pytest.param("triton", marks=pytest.mark.kernels),
    pytest.param("compiled", marks=pytest.mark.gpu),
]


@pytest.fixture(params=IMPLEMENTATIONS)
def ops(request: pytest.FixtureRequest) -> Ops:
    """Both sets of operations; the Triton one under its interpreter, or compiled on a GPU."""
    if request.param == "reference":
        return Ops.reference()
    if request.param == "compiled":
        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")
        return on_device(Ops.triton())
    if not _kernels_run():
        pytest.skip("needs TRITON_INTERPRET=1")
    return Ops.triton()


@pytest.fixture(
    params=[
        pytest.param("cpu", marks=pytest.mark.kernels),
        pytest.param("cuda", marks=pytest.mark.gpu),
    ]
)
def device(request: pytest.FixtureRequest) -> str:
    """Where a kernel itself can be called: interpreted, or compiled."""
    if request.param == "cpu" and not _kernels_run():
        pytest.skip("needs TRITON_INTERPRET=1")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    return str(request.param)


@pytest.fixture
def g() -> torch.Generator:
    """The one source of numbers of a test."""
    return torch.Generator().manual_seed(1)


@pytest.fixture(autouse=True)
def _poisoned_memory() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)  # fills torch.empty with NaN
    yield
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)
