"""A fault with a known cause for a real vLLM, as a plugin of it. One rule: it tells what it does.

vLLM loads it in each of its processes where this folder is on PYTHONPATH; without `KVLAB_FAULT` it
does nothing. The process that computes is hit: before a step, a KV block of a request is damaged,
and a line in vLLM's log says which, whose, and who had written it.

    export KVLAB_FAULT="kind=swap at=hit running=4 p=0.25" VLLM_USE_V2_MODEL_RUNNER=0
    PYTHONPATH=scenarios/real/vllm_fault vllm serve ...

`stated.py` has what can be asked for. Written for the first model runner of vLLM 0.32, on whatever
device: the variable beside it asks for that one.
"""

from __future__ import annotations

import os
from typing import Any

VARIABLE = "KVLAB_FAULT"


def arm() -> None:
    """Put the fault that the environment states between vLLM's scheduler and its model."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return
    from vllm.v1.worker.worker_base import WorkerWrapperBase

    from kvlab_vllm_fault.fault import Fault
    from kvlab_vllm_fault.stated import stated

    fault, right = Fault(stated(text)), WorkerWrapperBase.execute_model

    def execute_model(self: Any, scheduler_output: Any) -> Any:
        fault.before(scheduler_output, self.worker)
        return right(self, scheduler_output)

    WorkerWrapperBase.execute_model = execute_model
