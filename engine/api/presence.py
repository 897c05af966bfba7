"""Whether the client is still there. One rule: nobody works for a client that has left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from starlette.types import Receive

T = TypeVar("T")


class ClientGone(Exception):
    """The client closed the connection before its answer was complete."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, which is cancelled when the client leaves: ``ClientGone``.

    Only for a request whose body has been read. In-process transports cancel the caller's task
    instead, and that cancels ``work`` too.
    """
    worker = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_left(receive))
    watch.add_done_callback(lambda _: worker.cancel())
    try:
        return await worker
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if watch.done() and not (task and task.cancelling()):
            raise ClientGone from None
        raise
    finally:
        watch.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
