"""`device`: what the engine computes on. A GPU runs the Triton kernels and real CUDA graphs, and
under the virtual clock leaves the history that a CPU leaves.

Production flag: --device.
"""

from __future__ import annotations

from lab.toggles.domain import pattern
from lab.toggles.registry import toggle

DEVICE = toggle(
    "device",
    pattern("cpu|cuda(:[0-9]+)?", "cpu, cuda, cuda:<number>", ("cpu", "cuda")),
    "cpu",
    flag="--device",
    applies="engine",
    about="what the engine computes on",
)
