"""How errors and times are said. Rule: one line each."""

from __future__ import annotations


def one_line(error: BaseException) -> str:
    """An error's kind, and the first and the last line of what it says."""
    said = str(error).strip().splitlines() or [""]
    ends = said if len(said) < 2 else [said[0], said[-1].strip()]
    return f"{type(error).__name__}: {' ... '.join(ends)}"[:300]
