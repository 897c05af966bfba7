"""What a server said instead of a reply.

One rule: OpenAI's error object becomes one line, code before message; anything else is cut short.
"""

from __future__ import annotations

import json
from typing import Any

MOST = 300  # characters


def refusal(said: Any) -> str:
    """``room_failed: room 17 failed in ...``, of a body's text or of an event."""
    error = _object(said).get("error")
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return _short(said if isinstance(said, str) else str(said))
    kind = error.get("code") or error.get("type")
    return _short(f"{kind}: {error['message']}" if kind else error["message"])


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
