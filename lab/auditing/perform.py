"""An audit: every check of every implementation that runs here, in one document.

Rule: a check that raises has failed, and the next one is asked all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import torch

from kernels import jit
from kernels.audit.check import Check, Implementation, NotRun, Setting, all_checks
from kernels.audit.jaccard import overlaps
from kernels.ops import Ops
from lab.errors import UserError
from lab.kernel_bench.words import one_line
from lab.versions import versions

if TYPE_CHECKING:
    from lab.progress import Tick

JACCARD = "jaccard"


def settings(device: str, seed: int) -> list[Setting]:
    """What is audited: on `cpu` the reference operations, and the kernels where they are
    interpreted; on `cuda` the compiled kernels. Raises UserError where there is no such device.
    """
    if device == "cpu":
        found = [_setting("reference", device, seed)]
        return [*found, *[_setting("triton interpreted", device, seed)][: int(jit.INTERPRETED)]]
    if not torch.cuda.is_available():
        raise UserError("--device cuda: there is no CUDA device here; `--device cpu` needs none")
    if jit.INTERPRETED:
        raise UserError("--device cuda: TRITON_INTERPRET is set, so that nothing is compiled")
    return [_setting("triton compiled", device, seed)]


def audit(device: str, only: str, seed: int, tick: Tick) -> dict[str, Any]:
    """The document of an audit of the checks, and of the overlaps, whose names have `only` in
    them. Raises UserError, which names the kernels, where none has.
    """
    whose = settings(device, seed)
    asked = [(s, each) for s in whose for each in chosen(only) if s.implementation in each.only]
    sets = only in JACCARD
    if not asked and not sets:
        names = sorted({each.kernel for each in all_checks()})
        raise UserError(f"--only: no check has {only!r} in its name; kernels: {', '.join(names)}")
    document: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "implementation": ", ".join(s.implementation for s in whose),
        "versions": versions(),
        "seed": seed,
        "checks": [],
        "jaccard": [],
        "addressing": [],
    }
    due = len(asked) + int(sets)
    for done, (s, each) in enumerate(asked, 1):
        if device == "cuda":
            torch.cuda.empty_cache()  # what the last check took, the next one may want whole
        document[each.part].append(asked_of(s, each))
        tick(done, due)
    if sets:
        document["jaccard"] = list(jaccard(whose[0]))
        tick(due, due)
    return document


def chosen(only: str) -> list[Check]:
    """The checks whose "kernel: name" has `only` in it."""
    return [each for each in all_checks() if only in f"{each.kernel}: {each.name}"]


def asked_of(s: Setting, each: Check) -> dict[str, Any]:
    """One check's line; an exception is its answer. `ok` is None of a check that was not run."""
    line: dict[str, Any] = {
        "kernel": each.kernel,
        "check": each.name,
        "implementation": s.implementation,
    }
    try:
        with torch.inference_mode(), catch_warnings():
            simplefilter("ignore")  # of numbers that are not finite: they are what is asked about
            found = each.run(s)
    except NotRun as why:
        said = f"not run: {why}"
        return line | {"ok": None, "inputs": said, "measured": {}, "bound": {}}
    except Exception as error:
        told = one_line(error)
        return line | {"ok": False, "error": told, "inputs": "", "measured": {}, "bound": {}}
    return line | {
        "inputs": found.inputs,
        "measured": dict(found.measured),
        "bound": dict(found.bound),
        "why": found.why,
        "ok": found.ok,
    }


def jaccard(s: Setting) -> Iterator[dict[str, Any]]:
    """The overlaps of selected sets, by keys, format and length."""
    with torch.inference_mode():
        for each in overlaps(s):
            line = asdict(each)
            yield line | {"mean": round(each.mean, 4), "least": round(each.least, 4)}


def failed(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of all that is out of bounds."""
    lines = [*document["checks"], *document["addressing"]]
    return [line for line in lines if line["ok"] is False]


def _setting(name: Implementation, device: str, seed: int) -> Setting:
    ops = Ops.reference() if name == "reference" else Ops.triton()
    return Setting(ops, name, device, seed)
