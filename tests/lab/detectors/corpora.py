"""The two corpora of replies whose right text nobody knows: innocent ones, and corrupt ones.

One rule: a text stands in its file as it would come, after a line ``@@@ name``; ``@length`` at the
end of that line says that it ran into its token limit, else it stopped by itself. Of the corrupt
ones the name begins with the detector that must see it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.detectors import Context
from tests.lab.replies import TOOLS, strange

if TYPE_CHECKING:
    from lab.records import Reply

PLAIN = ("search", "run", "read", "write", "calculate", "get_weather", "send_email")
OFFERED = Context(tools={**TOOLS, **{name: {"type": "object"} for name in PLAIN}})


def corpus(name: str) -> dict[str, Reply]:
    """The replies of ``innocent`` or ``corrupt``, by name."""
    file = Path(__file__).parent / "corpus" / f"{name}.txt"
    found: dict[str, Reply] = {}
    for block in file.read_text(encoding="utf-8").split("@@@ ")[1:]:
        title, _, text = block.partition("\n")
        title, _, cut = title.partition(" @")
        content = text.removesuffix("\n")
        found[title] = strange(content=content, finish_reason=cut or "stop")
    return found
