"""What a server says it runs with. One rule: a value that is not found is None, and never guessed.

A readback is a key of a JSON document that a node serves (``json: /get_server_info``, ``key: a.b``,
a number in it being a position in a list), or a pattern over a node's log, its last match counting
(``log: regex with one group``). ``reads`` turns the server's words into ours. Of a key three more
things may be said: ``given``, the values that other keys of the document must not contradict for it
to be the setting's; ``step``, the key of a number to whose multiple the server rounds down; and
``means``, what the server makes of a word of ours, which is no other setting.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Plain = bool | int | float | str
Words = Annotated[tuple[str, ...], Field(strict=False)]
AUTO = "auto"
ABSENT = object()


class Readback(BaseModel):
    """Where the effective value of one toggle is read; ``node`` '' is the node that answers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    json_path: str = Field(default="", alias="json", pattern="^/")
    key: str = ""
    log: str = ""
    node: str = ""
    reads: dict[str, Plain] = {}
    given: dict[str, Plain] = {}
    step: str = ""
    means: dict[str, Words] = {}

    @property
    def where(self) -> str:
        """How a difference names its source."""
        return f"{self.json_path} {self.key}" if self.json_path else f"log: {self.log}"

    @property
    def source(self) -> str:
        """The document, or the log, that it is read from."""
        return self.json_path.partition("?")[0] or "log"

    def of_json(self, document: Any) -> Any:
        """The value in what ``json`` answered; None where the key is not there, or ``given`` says
        that it is another's. What would hold it and is null makes it null too, which ``reads`` may
        know as ``none``.
        """
        if any(_at(document, key) not in (ABSENT, value) for key, value in self.given.items()):
            return None
        found = _at(document, self.key)
        return None if found is ABSENT else self._ours(found)

    def alike(self, asked: Any, effective: Any, document: Any) -> bool:
        """Whether the server made ``effective`` of ``asked`` as it is known to: by rounding down to
        its step, or by another word for it.
        """
        if str(effective) in self.means.get(str(asked), ()):
            return True
        step = _at(document, self.step) if self.step else ABSENT
        numbers = (asked, effective, step)
        if not all(isinstance(it, int) and not isinstance(it, bool) for it in numbers):
            return False
        return bool(0 <= asked - effective < step)

    def of_log(self, text: str) -> Any:
        """The value in a node's log; None where no line matches."""
        found = re.findall(self.log, text)
        return self._ours(found[-1]) if found else None

    def _ours(self, found: Any) -> Any:
        ours = {theirs.casefold(): value for theirs, value in self.reads.items()}
        return ours.get(str(found).casefold(), plain(found))


def _at(document: Any, key: str) -> Any:
    """What stands at a dotted key; null inside of null, ``ABSENT`` where there is no such key."""
    found = document
    for step in key.split("."):
        if found is None and document is not None:
            break
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        elif isinstance(found, dict) and step in found:
            found = found[step]
        else:
            return ABSENT
    return found


def plain(found: Any) -> Any:
    """A server's text as the value that it stands for: `True`, `None`, numbers, or itself."""
    if not isinstance(found, str):
        return found
    words: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None}
    if found.casefold() in words:
        return words[found.casefold()]
    for kind in (int, float):
        try:
            return kind(found)
        except ValueError:
            continue
    return found.strip("'\"")


def same(asked: Any, effective: Any) -> bool:
    """Whether the server runs with what it was asked to: numbers by value, the rest by text.

    ``auto`` leaves it to the server, so anything is that.
    """
    if asked == AUTO:
        return True
    if isinstance(asked, bool) or isinstance(effective, bool):
        return asked is effective
    if isinstance(asked, int | float) and isinstance(effective, int | float):
        return abs(asked - effective) <= 1e-9 * max(abs(asked), abs(effective))
    return str(asked) == str(effective)
