"""A table of one incident, with signs in it that markup could be taken for."""

from __future__ import annotations

from lab.catalog.arms import Change
from lab.catalog.incidents import Incident
from lab.catalog.names import Name
from lab.catalog.table import Catalog, Judge

TABLE = Catalog(
    incidents=(
        Incident(
            name="page_lost",
            kind="corrupting",
            mechanism="A page is lost where a < b & `page_was_lost`.",
            trigger="a full pool",
            origin="some/repo#12",
            reported="some/repo#12: seen once.",
            fix="engine.pools.allocator.Once",
            seams=("allocator",),
            evidence=("page_was_lost",),
            scenario="scenarios/incidents/page_lost.yaml",
            verdicts=("corrupt",),
            shown_by=("bf16, graph on",),
            cleared_by=(Change("fp8", "bf16, graph on", {"index_k": "fp8", "graph": False}),),
        ),
        Incident("no_page_lost", "falsified", "Cleared.", "the load | twins"),
    ),
    names=(
        Name("page_was_lost", "violation", "A page is nowhere.", ("engine.x",), ("page_lost",)),
        Name("page_is_late", "fault", "A page comes late.", (), ()),
    ),
    detectors=(Judge("leaked_markup", "corrupt", 20, "`</think>` | in the text."),),
)
