"""What steps write and read, held against what their requests mean. One rule: it looks at inputs
that a step really had, and at the slots that the store of index keys really wrote.

Prefill chunks are operations of their own, in the order in which they ran. On a GPU the values are
read back at each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from engine.config import C4_RATIO
from engine.sched.batch import PrefillBatch
from engine.shadow.changed import Changed
from engine.shadow.logits import LogitsWatch
from engine.shadow.readers import Readers, Rows
from engine.shadow.reading import Reading
from engine.shadow.reports import report
from engine.shadow.telling import Telling
from engine.shadow.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray
    from torch import Tensor

    from engine.config import EngineConfig
    from engine.request import Request
    from engine.runner.index_store import StoreTrace
    from engine.runner.inputs import DecodeInputs, PrefillInputs
    from engine.runner.logits_rows import LogitsRows
    from engine.sched.batch import Batch
    from engine.shadow.memory import ShadowMemory
    from engine.shadow.stores import LatentStores


TOKEN = "token_of_another_row"


class StepWatch(Protocol):
    """Who is told of the steps that an engine runs. ``step`` is the runner's number."""

    def launched(self, batch: Batch) -> None:
        """The host launches a step."""
        ...

    def chunk(
        self, x: PrefillInputs, step: int, trace: StoreTrace | None, chosen: Tensor | None
    ) -> None:
        """A chunk has run: its last call of the index-K store, and the c4 slots that it chose."""
        ...

    def rows(self, x: DecodeInputs, step: int, trace: StoreTrace, chosen: Tensor | None) -> None:
        """The rows of a decode step have run; behind them in ``trace``, padding."""
        ...

    def ended(self) -> None:
        """The step has run."""
        ...


class NoStepWatch:
    """Nobody looks."""

    def launched(self, batch: Batch) -> None:
        return

    def chunk(
        self, x: PrefillInputs, step: int, trace: StoreTrace | None, chosen: Tensor | None
    ) -> None:
        return

    def rows(self, x: DecodeInputs, step: int, trace: StoreTrace, chosen: Tensor | None) -> None:
        return

    def ended(self) -> None:
        return


class ComputeWatch:
    """Watches the steps of one engine."""

    def __init__(
        self,
        shadow: ShadowMemory,
        config: EngineConfig,
        stores: LatentStores | None = None,
        logits: LogitsRows | None = None,
    ) -> None:
        self.shadow = shadow
        self.readers = Readers(config.max_running, config.model.max_context)
        self._writing = Writing(shadow, self.readers, stores)
        telling = Telling(shadow, self.readers)
        self._reading = Reading(shadow, self.readers, telling)
        self._judges: list[Reading | Changed] = [self._reading]
        if config.ledger == "full":
            self._judges.append(Changed(shadow, self.readers, telling))
        self._logits = LogitsWatch(shadow, self.readers, logits) if logits else None
        self._hisparse = config.hisparse
        self._batch: list[Request] = []

    def admitted(self, req_slot: int, tokens: Sequence[int]) -> None:
        """The context of a request slot begins with ``tokens``, which others have computed."""
        self._reading.forget(req_slot)
        self.readers.admitted(req_slot, tokens)

    def launched(self, batch: Batch) -> None:
        """The host launches a step."""
        self.shadow.launched()
        if isinstance(batch, PrefillBatch):
            starts = [chunk.start for chunk in batch.chunks]
        else:
            starts = [length - 1 for length in batch.seq_lens]
        for req, start in zip(batch.requests, starts, strict=True):
            if self.readers.sync(req):
                self.admitted(req.req_slot, req.tokens[:start])
        self._batch = batch.requests

    def chunk(
        self, x: PrefillInputs, step: int, trace: StoreTrace | None, chosen: Tensor | None
    ) -> None:
        """A chunk has run."""
        slot, start, loc = x.req_slot, x.start, _numbers(x.slots)
        op = self._begin("prefill", step, np.array([slot]))
        end = np.array([start + len(loc) - 1])
        self.readers.shown(np.array([slot]), _numbers(x.page_table)[None], end)
        if start:
            for judge in self._judges:
                judge.before(op, _row(slot, start - 1, 0))
        chain = self.readers.extend(slot, start, _numbers(x.tokens))
        nothing = np.full(len(loc) // C4_RATIO, -1, dtype=np.int64)
        written = nothing if trace is None else _numbers(trace.written)
        self._writing.chunk(op, slot, start, loc, chain, written)
        if x.last:
            last = _row(slot, start + len(loc) - 1, int(loc[-1]))
            found = None if chosen is None else _numbers(chosen)
            for judge in self._judges:
                judge.rows(op, last, found, rings=False)

    def rows(self, x: DecodeInputs, step: int, trace: StoreTrace, chosen: Tensor | None) -> None:
        """The rows of a decode step have run."""
        slot = _numbers(x.req_slots)
        rows = Rows(slot, _numbers(x.positions), _numbers(x.out_cache_loc))
        op = self._begin("decode", step, slot)
        self.readers.shown(slot, _numbers(x.page_table), rows.position)
        self._inputs(op, rows, _numbers(x.tokens))
        chain = self.readers.append(rows, _numbers(x.tokens))
        self._writing.rows(op, rows, chain, _numbers(trace.written))
        found = None if chosen is None or self._hisparse else _numbers(chosen)
        for judge in self._judges:
            judge.rows(op, rows, found, rings=True)
        if self._logits is not None:
            self._logits.rows(op, rows)

    def ended(self) -> None:
        """The step has run; the host hears of it when it processes the step."""
        self.shadow.ended()

    def _inputs(self, op: int, rows: Rows, tokens: NDArray[np.int64]) -> None:
        """The token that a row reads is its context's last one: by now its host has heard of it."""
        said = zip(self._batch, rows.position.tolist(), tokens.tolist(), strict=False)
        bad = [lane for lane, each in enumerate(said) if not _is_next(*each)]
        if bad:
            lane, at = bad[0], int(rows.position[bad[0]])
            request = self._batch[lane]
            report(
                self.shadow,
                TOKEN,
                -1,
                len(bad),
                request=request.id,
                row=lane,
                position=at,
                reader=self.shadow.log.said(op, lane),
                step=self.shadow.log[op].step,
                output=at - len(request.prompt) + 1,
            )

    def _begin(self, kind: Any, step: int, slot: NDArray[np.int64]) -> int:
        lanes = tuple(self.readers.request[slot].tolist())
        name, stream = f"{kind} step {step}", self.shadow.compute
        self.shadow.running = self.shadow.begin(kind, name, stream, step, lanes)
        self.readers.runs(self.shadow.running, slot)
        return self.shadow.running


def _is_next(req: Request, position: int, token: int) -> bool:
    """Whether a token is that of a request at a position behind its prompt, which it may lack."""
    at = position - len(req.prompt)
    return 0 <= at < len(req.output) and req.output[at] == token


def _numbers(values: Tensor) -> NDArray[Any]:
    found: NDArray[Any] = values.cpu().numpy()
    return found


def _row(slot: int, position: int, loc: int) -> Rows:
    """One row, as arrays."""
    return Rows(*(np.array([value], dtype=np.int64) for value in (slot, position, loc)))
