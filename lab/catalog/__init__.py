"""The detector table: every incident, and every name by which the lab tells of one.

One rule: nothing is written here that a defect, a scenario or a detector says of itself; a new
defect is in the table because its file is there.
"""

from lab.catalog.table import Catalog, chosen, document, whole

__all__ = ["Catalog", "chosen", "document", "whole"]
