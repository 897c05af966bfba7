"""Request traces in Mooncake's format, read. One rule: a line that is no request is named.

A line is one request: ``timestamp`` in ms, ``input_length`` and ``output_length`` in tokens, and
``hash_ids``, a number for each block of 512 tokens of its input (kvcache-ai/Mooncake, FAST25). A
number stands for its block and for all that comes before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lab.errors import UserError

BLOCK_TOKENS = 512
KEYS = ("timestamp", "input_length", "output_length", "hash_ids")


@dataclass(frozen=True)
class Request:
    """One request of a trace. Lengths in tokens; ``at_s`` since the trace began."""

    at_s: float
    input_tokens: int
    output_tokens: int
    blocks: tuple[int, ...]


def no_file(file: str) -> str:
    """Why there is no trace to read, and what there may be; empty where there is a file."""
    return "" if Path(file).is_file() else f"no file {file}; accepted: a trace of JSON lines"


def read_trace(file: str, first: int, count: int) -> list[Request]:
    """``count`` requests from number ``first`` on; raises ``UserError`` where there are fewer."""
    path = Path(file)
    if why := no_file(file):
        raise UserError(f"workload.data: {why}")
    try:
        with path.open(encoding="utf-8") as lines:
            found = list(_requests(islice(lines, first, first + count), file, first))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"workload.data: {file} cannot be read: {error}") from None
    if len(found) < count:
        held = f"{file} holds {len(found)} from number {first} on"
        raise UserError(f"workload.sessions: {count} requests asked for; {held}")
    return found


def _requests(lines: Iterator[str], file: str, first: int) -> Iterator[Request]:
    for number, line in enumerate(lines, first + 1):
        try:
            at_ms, tokens, reply, blocks = (json.loads(line)[key] for key in KEYS)
            made = Request(int(at_ms) / 1000, int(tokens), int(reply), tuple(map(int, blocks)))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise UserError(f"{file}:{number}: no request; accepted: {', '.join(KEYS)}") from None
        if not made.blocks or made.input_tokens < 1:
            raise UserError(f"{file}:{number}: a request of no tokens")
        yield made
