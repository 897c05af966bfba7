"""Re-created production faults, one file each: file name = defect name = scenario name.

``catalog()`` lists them; ``seams(build)`` gives the seams of a build that contains some of them.
"""

from engine.defects.registry import Defect, catalog, defect, seams

__all__ = ["Defect", "catalog", "defect", "seams"]
