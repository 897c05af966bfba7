"""One detector a file, for every way in which a reply can be wrong.

One rule: a detector is a pure function of a reply and its context. Several may fire on one reply;
it is counted once, under the first by rank (``RANKS`` in ``base`` says which and why).
"""

from lab.detectors.base import DETECTORS, Context, Detector, Kind
from lab.detectors.examine import Place, examine, named, place_of, worst

__all__ = [
    "DETECTORS",
    "Context",
    "Detector",
    "Kind",
    "Place",
    "examine",
    "named",
    "place_of",
    "worst",
]
