"""Whether each row's logits lie where the row reads them. One rule: it looks at where a step's rows
begin, which its shapes alone decide, so nothing waits for a device.

- ``logits_outside_their_row``: a row's logits were written elsewhere in the buffer, or outside it,
  so the row selects by what others wrote there, or nobody.

A request is told of once, at its first such row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.shadow.reports import report

if TYPE_CHECKING:
    from engine.runner.logits_rows import LogitsRows
    from engine.shadow.memory import ShadowMemory
    from engine.shadow.readers import Readers, Rows


class LogitsWatch:
    """Watches the logits of one engine's decode steps, which are laid out as ``layout`` says."""

    def __init__(self, shadow: ShadowMemory, readers: Readers, layout: LogitsRows) -> None:
        self._shadow, self._readers, self._layout = shadow, readers, layout
        self._told: set[int] = set()  # requests

    def rows(self, op: int, rows: Rows) -> None:
        """The rows of a decode step have run."""
        for row, offset in self._layout.astray(len(rows.slot)).items():
            slot, position = int(rows.slot[row]), int(rows.position[row])
            request = int(self._readers.request[slot])
            if request in self._told:
                continue
            self._told.add(request)
            report(
                self._shadow,
                "logits_outside_their_row",
                -1,
                request=request,
                row=row,
                offset=offset,
                belongs=self._layout.belongs(row),
                width=self._layout.width,
                position=position,
                reader=self._shadow.log.said(op, row),
                step=self._shadow.log[op].step,
                output=position + 1 - int(self._readers.prompt[slot]),
            )
