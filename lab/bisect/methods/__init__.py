"""Ways to find the culprits, one a file; all ask the same notebook and can be compared.

One rule: a method looks at configurations and counts, never at why a reply is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.registry import Registry

if TYPE_CHECKING:
    from lab.bisect.conclusion import Belief, Discovery
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Space
    from lab.bisect.trials import Unit

Believe = Callable[["Belief"], None]  # is told after every probe
Method = Callable[["Notebook", "Space", "Parameters", "Unit", Believe], "Discovery"]
METHODS: Registry[Method] = Registry("method", "lab.bisect.methods")
