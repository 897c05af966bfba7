"""A stored run as a trace that Perfetto opens: its arms' time, one file a kind of thing drawn.

One rule: it reads what is stored and concludes nothing.
"""

from lab.timeline.report import VIEWER, timeline_document, timeline_report
from lab.timeline.writing import Written, write_timeline

__all__ = ["VIEWER", "Written", "timeline_document", "timeline_report", "write_timeline"]
