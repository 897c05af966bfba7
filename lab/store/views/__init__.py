"""The views that `kvlab sql` and `kvlab export` offer: all that is stored, under stable names.

One rule: adding a view is adding it to one of these modules, and to ``VIEWS``.
"""

from lab.store.views.bisections import BISECTIONS, PROBES, TRIALS
from lab.store.views.concluded import COMPARISONS, EXPOSURE, FINDINGS, VIOLATIONS
from lab.store.views.observed import BOOTS, EVENTS, ROOMS
from lab.store.views.runs import ARMS, REPLIES, RUNS, SESSIONS, TURNS
from lab.store.views.view import STORE, Column, View

VIEWS: tuple[View, ...] = (
    *(RUNS, ARMS, SESSIONS, TURNS, REPLIES),
    *(FINDINGS, VIOLATIONS, EXPOSURE, COMPARISONS),
    *(EVENTS, BOOTS, ROOMS),
    *(BISECTIONS, PROBES, TRIALS),
)

__all__ = ["STORE", "VIEWS", "Column", "View"]
