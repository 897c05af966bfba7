"""`metadata_slots`: rooms whose first token can be on its way at once; 0 takes two a running
request.

Production flag: none; twice the largest number of running requests.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

METADATA_SLOTS = toggle(
    "metadata_slots",
    count(least=0, most=65_536),
    0,
    flag="none, twice the running requests",
    applies="engine",
    about="first tokens on their way at once; 0: two a request",
    needs=("pd",),
    zero="two a request",
)
