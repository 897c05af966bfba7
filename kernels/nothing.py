"""A kernel that does nothing, on one program for each multiprocessor: what a launch alone costs.

Rule: it starts as the kernels that are timed do, alone or overlapped with the one before it.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

import torch

from kernels.jit import jit, overlaps, require, tl

WARPS = 4


@jit
def _nothing(OVERLAP: tl.constexpr):
    if OVERLAP:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()


def do_nothing(overlap: bool) -> None:
    """Launches it on the current CUDA device; `overlap`: as soon as the kernel before it allows,
    where the GPU can.
    """
    require()
    overlap = overlap and overlaps()
    programs = torch.cuda.get_device_properties().multi_processor_count
    options = {"launch_pdl": True} if overlap else {}
    _nothing[(programs,)](overlap, num_warps=WARPS, **options)
