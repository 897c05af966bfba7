"""The results database: one DuckDB file, written arm by arm, before anything is judged.

One rule: what is read back equals what was saved, and a process that dies loses its open arm only.
"""

from lab.store.bisections import Remembered
from lab.store.db import DEFAULT_DB, Results, open_results
from lab.store.ids import BISECTION, RUN
from lab.store.rooms import Difference, RoomPages
from lab.store.rows import RunStatus, StoredRun
from lab.store.trial_rows import StoredBisection

__all__ = [
    "BISECTION",
    "DEFAULT_DB",
    "RUN",
    "Difference",
    "Remembered",
    "Results",
    "RoomPages",
    "RunStatus",
    "StoredBisection",
    "StoredRun",
    "open_results",
]
