"""Two stored runs side by side: two builds, two days. One rule: what differs in how they were run
is told beside what differs in what they did.
"""

from lab.comparing.document import compare
from lab.comparing.table import report

__all__ = ["compare", "report"]
