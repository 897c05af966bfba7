"""What a server said instead of a reply.

One rule: OpenAI's error object becomes one line, code before message unless the message says it in
its own words; anything else is cut short.
"""

from __future__ import annotations

import json
import re
from typing import Any

MOST = 300  # characters


def refusal(said: Any) -> str:
    """``invalid_request_error: ...`` or ``room 17 failed in ...``, of a body's text or an event."""
    error = _object(said).get("error")
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return _short(said if isinstance(said, str) else str(said))
    kind, message = error.get("code") or error.get("type"), error["message"]
    return _short(f"{kind}: {message}" if kind and not _says(message, str(kind)) else message)


def _says(message: str, kind: str) -> bool:
    """Whether the message has every word of the code: ``room 17 failed`` has ``room_failed``."""
    return {*_words(kind)} <= {*_words(message)}


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _object(said: Any) -> dict[str, Any]:
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            return {}
    return said if isinstance(said, dict) else {}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST else f"{line[:MOST]}..."
