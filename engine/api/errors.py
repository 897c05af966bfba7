"""Errors as OpenAI's clients expect them: ``{"error": {message, type, param, code}}``.

One rule: whatever goes wrong with a request is one such body, with the parameter named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from engine.api.models import UNSUPPORTED
from engine.errors import EngineError, RoomFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import ValidationError
    from starlette.requests import Request


class ApiError(EngineError):
    """A request that gets an error body; ``param`` names the field at fault."""

    def __init__(
        self, message: str, param: str | None = None, code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.param, self.code, self.status = param, code, status


def error_body(
    message: str,
    param: str | None = None,
    code: str | None = None,
    kind: str = "invalid_request_error",
) -> dict[str, Any]:
    """The error object; ``kind`` is OpenAI's ``type``."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def failure_body(error: Exception) -> dict[str, Any]:
    """The error object of a generation that failed, or of a loop that died."""
    said = str(error) if isinstance(error, EngineError) else f"The server failed: {error!r}"
    code = "room_failed" if isinstance(error, RoomFailed) else None
    return error_body(said, None, code, "server_error")


def from_validation(error: ValidationError, body: Any) -> ApiError:
    """The complaint that reaches deepest into the body, its place spelt as in the body."""
    found = error.errors(include_url=False)
    path, one = max(((_path(one["loc"], body), one) for one in found), key=lambda it: len(it[0]))
    param = _spell(path)
    if one["type"] == "extra_forbidden":
        return ApiError(f"Unrecognized request argument supplied: {param}", param)
    if one["type"] == "missing":
        return ApiError(f"Missing required parameter: '{param}'.", param)
    if path and path[0] in UNSUPPORTED:
        message = f"Unsupported value: '{path[0]}' has only its default here ({one['msg']})."
        return ApiError(message, param, "unsupported_value")
    return ApiError(f"Invalid value for '{param}': {one['msg']}.", param)


def _path(loc: Sequence[int | str], body: Any) -> list[int | str]:
    """``loc`` without pydantic's own names for the members of a union."""
    path: list[int | str] = []
    for index, part in enumerate(loc):
        if isinstance(body, dict) and (part in body or index == len(loc) - 1):
            body = body.get(part)
        elif isinstance(body, list) and isinstance(part, int) and part < len(body):
            body = body[part]
        else:
            continue
        path.append(part)
    return path


def _spell(path: Sequence[int | str]) -> str:
    spelt = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return spelt.removeprefix(".")


async def on_api_error(_: Request, error: Exception) -> JSONResponse:
    """Answer an ``ApiError``."""
    assert isinstance(error, ApiError)
    return JSONResponse(error_body(str(error), error.param, error.code), error.status)


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """Answer what routing refuses: an unknown path (404), a wrong method (405)."""
    assert isinstance(error, HTTPException)
    asked = f"{request.method} {request.url.path}"
    message = {
        404: f"Unknown request URL: {asked}.",
        405: f"Not allowed: {asked}.",
    }.get(error.status_code, error.detail)
    code = {404: "unknown_url", 405: "method_not_allowed"}.get(error.status_code)
    return JSONResponse(error_body(message, None, code), error.status_code, error.headers)


async def on_failed_room(_: Request, error: Exception) -> JSONResponse:
    """Answer a generation whose hand-over failed; the server itself is well."""
    return JSONResponse(failure_body(error), 500)


async def on_crash(_: Request, error: Exception) -> JSONResponse:
    """Answer a fault of the server itself; the server raises it again for its log."""
    return JSONResponse(error_body(f"The server failed: {error!r}", kind="server_error"), 500)
