"""The routes. One rule: every endpoint is async, and a generation never outlives its client."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from engine import clock
from engine.api import answers, metrics, request
from engine.api.errors import (
    ApiError,
    error_body,
    on_api_error,
    on_crash,
    on_failed_room,
    on_http_error,
)
from engine.api.facade import Engine, Handle, release
from engine.api.presence import ClientGone, unless_gone
from engine.api.reply import Reply
from engine.errors import RequestRefused, RoomFailed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

MODEL = "kvlab"
_GONE = 499  # the client left; nobody reads this


def create_app(engine: Engine, model: str = MODEL, counters: Sequence[str] = ()) -> Starlette:
    """The application over a running ``engine``, which serves under the name ``model``;
    ``counters`` are those that `/metrics` tells from the start.
    """
    server = _Server(engine, model, counters)
    return Starlette(
        routes=[
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
            Route("/abort_request", server.abort_request, methods=["POST"]),
            Route("/flush_cache", server.flush_cache, methods=["POST"]),
            Route("/v1/models", server.models, methods=["GET"]),
            Route("/v1/models/{model}", server.one_model, methods=["GET"]),
            Route("/health", server.health, methods=["GET"]),
            Route("/server_info", server.server_info, methods=["GET"]),
            Route("/get_server_info", server.server_info, methods=["GET"]),  # SGLang's name
            Route("/metrics", server.metrics, methods=["GET"]),
        ],
        exception_handlers={
            ApiError: on_api_error,
            HTTPException: on_http_error,
            RoomFailed: on_failed_room,
            Exception: on_crash,
        },
    )


class _Server:
    """The endpoints of one engine."""

    def __init__(self, engine: Engine, model: str, counters: Sequence[str]) -> None:
        self._engine, self._model, self._counters = engine, model, counters

    async def chat(self, http: Request) -> Response:
        """Run one chat request; streamed or whole."""
        job = request.read(await http.body(), self._model, self._engine.config)
        try:
            handle = self._engine.submit(job.prompt, job.max_tokens, job.stops)
        except RequestRefused as refused:
            raise ApiError(str(refused), "messages", refused.code) from None
        reply = Reply(handle, job)
        head = answers.Head(handle.request_id, _created(), self._model)
        if job.stream:
            return _EventStream(handle, answers.chunks(reply, head, job))
        try:
            work = answers.completion(reply, head, job)
            return JSONResponse(await unless_gone(http.receive, work))
        except ClientGone:
            return Response(status_code=_GONE)
        finally:
            release(handle)

    async def abort_request(self, http: Request) -> Response:
        """End one generation, or all. An unknown id is no mistake: that reply may have ended."""
        asked = request.read_abort(await http.body())
        if asked.abort_all:
            self._engine.abort_all()
        elif asked.number is not None:
            self._engine.abort(asked.number)
        return Response()

    async def flush_cache(self, _: Request) -> Response:
        """Forget every cached prefix, as SGLang does: 400 while anybody is served."""
        if self._engine.flush():
            return Response("Cache flushed.\n")
        return Response("The cache was not flushed: there are requests.\n", 400)

    async def models(self, _: Request) -> JSONResponse:
        """The one model there is, as a list."""
        return JSONResponse({"object": "list", "data": [self._card()]})

    async def one_model(self, http: Request) -> JSONResponse:
        """The model's card, or 404."""
        name = http.path_params["model"]
        if name != self._model:
            message = f"The model '{name}' does not exist; this server has '{self._model}'."
            raise ApiError(message, "model", "model_not_found", 404)
        return JSONResponse(self._card())

    async def health(self, _: Request) -> JSONResponse:
        """Whether the engine can serve: 503 once its loop has died."""
        if (died := self._engine.died) is not None:
            message = f"The engine's loop died: {died!r}"
            return JSONResponse(error_body(message, kind="server_error"), 503)
        return JSONResponse({"status": "ok"})

    async def server_info(self, _: Request) -> JSONResponse:
        """The effective configuration, as the engine states it."""
        return JSONResponse(self._engine.info())

    async def metrics(self, _: Request) -> Response:
        """Exposure, violations and faults counted so far, and how full the engine is."""
        engine = self._engine
        text = metrics.exposition(engine.info(), engine.died is None, self._counters)
        return Response(text, media_type=metrics.MEDIA_TYPE)

    def _card(self) -> dict[str, Any]:
        return {"id": self._model, "object": "model", "created": 0, "owned_by": "kvlab"}


class _EventStream(Response):
    """A response of server-sent events; the generation is released however it ends."""

    media_type = "text/event-stream"

    def __init__(self, handle: Handle, events: AsyncGenerator[bytes, None]) -> None:
        self._handle, self._events = handle, events
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers({"cache-control": "no-cache"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await unless_gone(receive, self._stream(send))
        except ClientGone:
            pass
        finally:
            release(self._handle)

    async def _stream(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async with aclosing(self._events) as events:
            async for event in events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _created() -> int:
    """The reply's date, seconds: the real one, unless time itself is virtual."""
    return int(clock.now() if clock.is_virtual() else clock.wall_date().timestamp())
