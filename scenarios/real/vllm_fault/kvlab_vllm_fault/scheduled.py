"""What vLLM schedules for a step, as the books want it. One rule: this alone reads its shapes.

Tables are the lists that the worker will read: whoever changes one has changed what it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kvlab_vllm_fault.books import Books


class Admitted(NamedTuple):
    """A request that begins, or begins again after a preemption, with rows that others wrote."""

    request: str
    prompt: int
    table: list[int]
    computed: int


class Write(NamedTuple):
    """Rows of a request that the step writes; ``decoded`` is whether it generates."""

    request: str
    start: int
    tokens: int
    decoded: bool


def admitted(scheduled: Any, books: Books) -> list[Admitted]:
    """Who begins in the step."""
    found = [
        Admitted(
            new.req_id,
            len(new.prompt_token_ids or ()),
            _one(new.block_ids),
            new.num_computed_tokens,
        )
        for new in scheduled.scheduled_new_reqs
    ]
    again = scheduled.scheduled_cached_reqs
    for index, request in enumerate(again.req_ids):
        if request in again.resumed_req_ids:
            prompt, table = books.requests[request].prompt, _one(again.new_block_ids[index])
            found.append(Admitted(request, prompt, table, again.num_computed_tokens[index]))
    return found


def grown(scheduled: Any) -> Iterator[tuple[str, list[int]]]:
    """The requests that go on and are given blocks, and these."""
    again = scheduled.scheduled_cached_reqs
    for request, more in zip(again.req_ids, again.new_block_ids, strict=True):
        if more is not None and request not in again.resumed_req_ids:
            yield request, _one(more)


def writes(scheduled: Any, books: Books) -> Iterator[Write]:
    """What every request of the step writes.

    It decodes where it goes on from its newest token: a request that was preempted computes what
    it had said like a prompt.
    """
    starts = {new.req_id: (new.num_computed_tokens, 0) for new in scheduled.scheduled_new_reqs}
    again = scheduled.scheduled_cached_reqs
    told = zip(again.req_ids, again.num_computed_tokens, again.num_output_tokens, strict=True)
    starts |= {request: (computed, said) for request, computed, said in told}
    for request, tokens in scheduled.num_scheduled_tokens.items():
        start, said = starts[request]
        newest = books.requests[request].prompt + max(1, said) - 1
        yield Write(request, start, tokens, start >= newest)


def _one(tables: Any) -> list[int]:
    """The only table of a request: models with several kinds of KV cache are not damaged."""
    if len(tables) != 1:
        raise ValueError("KVLAB_FAULT: the model has several groups of KV caches")
    return list(tables[0]) if isinstance(tables[0], tuple) else tables[0]
