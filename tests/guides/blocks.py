"""The commands that the guides tell a reader to type. One rule: whatever stands in a block counts.

A guide is any README. A command is a line of a fenced block without a language, or of `sh`, that
begins with a word of ``BEGINS``; a line that ends with a backslash goes on. What follows a `#`
behind two spaces is a remark.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGINS = ("kvlab", "make", "pip", ".venv/bin/pytest", "pytest", "python")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
BESIDES = (".venv", ".venv-vllm", "build", "node_modules", ".pytest_cache")


def guides() -> list[Path]:
    """Every README of the project, the top one first."""
    found = [it for it in ROOT.rglob("README.md") if not set(BESIDES) & set(it.parts)]
    return sorted(found, key=lambda it: (len(it.parts), it.as_posix()))


def commands(guide: Path) -> list[list[str]]:
    """The command lines of a guide, in order, each as its words."""
    found = []
    for language, text in BLOCK.findall(guide.read_text(encoding="utf-8")):
        if language in ("", "sh"):
            joined = text.replace("\\\n", " ")
            found += [words(line) for line in joined.splitlines() if line.startswith(BEGINS)]
    return [it for it in found if it[0] in BEGINS]


def words(line: str) -> list[str]:
    """A line's words, without its remark."""
    return shlex.split(re.split(r"\s+#\s", line)[0])
