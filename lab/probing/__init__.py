"""The probe as a folder that engines serve: made by closed form, and checked against it.

One rule: nothing is downloaded, drawn or trained; equal options are equal bytes.
"""

from lab.probing.checking import check
from lab.probing.making import make

__all__ = ["check", "make"]
