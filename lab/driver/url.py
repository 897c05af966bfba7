"""An httpx client for somebody's server. One rule: a connection for each session, kept alive, and
nothing of this machine's environment: no proxies, no `.netrc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from lab.driver.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

CONNECT_S = 30.0


def client(base_url: str, headers: Mapping[str, str]) -> httpx.AsyncClient:
    """The client of any number of sessions; how long a reply may take is the driver's to say.

    Raises ``httpx.InvalidURL``.
    """
    return httpx.AsyncClient(
        base_url=base_url,
        headers={**headers, "Accept-Encoding": "identity"},
        transport=Wire(),
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
    )
