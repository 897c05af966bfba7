"""Why a reply came out wrong: from its first wrong token back to the question that allowed it."""

from lab.explaining.choosing import explained
from lab.explaining.explanation import Explanation
from lab.explaining.words import said

__all__ = ["Explanation", "explained", "said"]
