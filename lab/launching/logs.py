"""What a foreign log says last, and what it must not keep. One rule: one line, whatever the server
prints.

Rulers, carets and colours say nothing. Of a server that gave up, the last line that names an error
says more than the ones that follow it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from lab.driver.secret import Secret

PRIVATE = 0o600  # a server prints its arguments, and a key may be one
TAIL_BYTES = 64 * 1024
LONGEST = 240
COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SAYS = re.compile(r"[^\W_]{2}")
ERROR = re.compile(r"^(?:.*[\s)\]])?[\w.]*(?:Error|Exception|Interrupt)\b|\berror: ", re.MULTILINE)
ELSEWHERE = ("see root cause above", "see stack trace")
GIVEN = re.compile(r", input_value=.*")  # Pydantic quotes all arguments of the server, keys too


def tail(path: Path) -> list[str]:
    """The meaningful lines at the end of a log, without our own first one."""
    with path.open("rb") as log:
        size = log.seek(0, 2)
        log.seek(max(0, size - TAIL_BYTES))
        text = log.read().decode(errors="replace")
    lines = [COLOUR.sub("", line).strip() for line in re.split(r"[\r\n]+", text)]
    return [line for line in lines if SAYS.search(line) and not line.startswith("$ ")]


def last_line(path: Path) -> str:
    """The last line; empty where nothing was said."""
    lines = tail(path)
    return _short(lines[-1]) if lines else ""


def last_error(path: Path) -> str:
    """The last line that names an error, else the last one; empty where nothing was said.

    Pydantic's says only where it was found: what it was is in the line after it.
    """
    lines = tail(path)
    errors = [i for i, line in enumerate(lines) if ERROR.search(line) and not _elsewhere(line)]
    if not errors:
        return last_line(path)
    said = lines[errors[-1] :][: 2 if "validation error" in lines[errors[-1]] else 1]
    return _short(": ".join(GIVEN.sub("]", line) for line in said))


def without_key(log: Path, key: Secret) -> None:
    """Take the key out of the log of a process that has ended; one without it is left alone."""
    ends = [end.encode() for end in key.ends]
    with log.open("rb") as lines:
        if not ends or not any(end in line for line in lines for end in ends):
            return
    clean = log.with_name(f".{log.name}")
    clean.touch(mode=PRIVATE)
    with log.open("rb") as lines, clean.open("wb") as out:
        for line in lines:
            text = line.decode(errors="surrogateescape")
            found = any(end in line for end in ends)
            out.write(key.scrub_cut(text).encode(errors="surrogateescape") if found else line)
    clean.replace(log)


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def _elsewhere(line: str) -> bool:
    return any(words in line.casefold() for words in ELSEWHERE)
