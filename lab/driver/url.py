"""An httpx client for somebody's server. One rule: a connection for each session, kept alive, and
nothing of this machine's environment: no proxies, no `.netrc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping

BESIDE = 4  # connections for what is read of the server meanwhile
CONNECT_S = 30.0
# uvicorn, under vLLM and SGLang, closes what was idle for 5 s: a request that was just sent there
# would be lost, and counted as a disconnect of the server's
IDLE_S = 4.0


def client(base_url: str, sessions: int, headers: Mapping[str, str]) -> httpx.AsyncClient:
    """The client of so many sessions at once; how long a reply may take is the driver's to say.

    Raises ``httpx.InvalidURL``.
    """
    most = sessions + BESIDE
    return httpx.AsyncClient(
        base_url=base_url,
        headers={**headers, "Accept-Encoding": "identity"},
        limits=httpx.Limits(
            max_connections=most, max_keepalive_connections=most, keepalive_expiry=IDLE_S
        ),
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
    )
