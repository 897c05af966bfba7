"""What a server says of itself, before an arm. One rule: what is not there is not there: only a
server whose list of models cannot be had, or that refuses the key for it, ends the arm.

Whatever a document has under a name that is a key's or a password's is left out of what is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx

from lab.driver import failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MODELS = "/v1/models"
INFO = ("/server_info", "/get_server_info")  # SGLang's new name and its old one: one is enough
DOCUMENTS = (MODELS, *INFO, "/version")
PATIENCE_S = 20.0
FORBIDDEN = (401, 403)
NAMES = (
    r"api_?keys?|passwords?|passwd|passphrase|secrets?|credentials?|token|bearer"
    r"|(?:hf|access|auth|bearer|api)_?token|(?:secret|access|private)_?(?:access_?)?keys?(?:_id)?"
)
HIDDEN = re.compile(rf"(^|[_-])({NAMES})$", re.IGNORECASE)
OPTION = re.compile(r"--[\w-]*(?:key|token|password|secret)", re.IGNORECASE)  # of a command line
BETWEEN = r"""["']?(?:\s*[=,:]\s*|\s+)(?!["']?--)"""
VALUE = r"""("[^"]*"|'[^']*'|[^\s"']+)"""
GIVEN = re.compile(f"({OPTION.pattern}{BETWEEN}){VALUE}", re.IGNORECASE)
LEFT_OUT = "(not stored)"


class Unreachable(Exception):
    """The server does not talk to us; why, in one line."""


async def documents(http: httpx.AsyncClient, more: Iterable[str] = ()) -> dict[str, Any]:
    """The JSON documents that the server has, by path; raises `Unreachable`."""
    found: dict[str, Any] = {}
    asked = [path for path in more if path]
    for path in dict.fromkeys((MODELS, *asked, *DOCUMENTS)):
        if path in INFO and any(known.startswith(INFO) for known in found):
            continue
        document = await _document(http, path)
        if isinstance(document, dict | list):
            found[path] = without_secrets(document)
    return found


async def fetched(
    http: httpx.AsyncClient, url: str, headers: Mapping[str, str] | None = None
) -> httpx.Response | None:
    """The answer to a GET; None where none came in time."""
    try:
        return await http.get(url, headers=headers, timeout=PATIENCE_S)
    except httpx.HTTPError:
        return None


def read_json(answer: httpx.Response | None) -> Any:
    """The document of an answer; None where it is no answer, no success, or no JSON."""
    if answer is None or answer.status_code != httpx.codes.OK:
        return None
    try:
        return answer.json()
    except (ValueError, RecursionError):
        return None


def info_of(found: Mapping[str, Any], path: str) -> Any:
    """The document at ``path``; one of `INFO` is there under either of its names."""
    names = INFO if path in INFO else (path,)
    return next((found[name] for name in (path, *names) if name in found), None)


def without_secrets(document: Any) -> Any:
    """The document without the values of its keys and passwords, be they of a command line."""
    if isinstance(document, dict):
        return {
            key: LEFT_OUT if _hides(str(key), value) else without_secrets(value)
            for key, value in document.items()
        }
    if isinstance(document, list):
        before = [None, *document]
        return [
            LEFT_OUT if _is_value(option, it) else without_secrets(it)
            for option, it in zip(before, document, strict=False)
        ]
    return GIVEN.sub(rf"\1{LEFT_OUT}", document) if isinstance(document, str) else document


def _hides(name: str, value: Any) -> bool:
    """Whether this is a secret under its name; a switch is none."""
    return bool(value) and not isinstance(value, bool) and HIDDEN.search(name) is not None


def _is_value(option: Any, value: Any) -> bool:
    """Whether an argument is the value of the secret option before it."""
    named = isinstance(option, str) and OPTION.fullmatch(option)
    return bool(named) and not str(value).startswith("--")


def served_models(found: dict[str, Any]) -> list[str]:
    """The names under which `/v1/models` serves, in its order."""
    return [str(card["id"]) for card in _cards(found) if card.get("id")]


def maker(found: dict[str, Any]) -> str:
    """Whose server it is, as its model cards say: ``vllm``, ``sglang``, ``kvlab``; or empty."""
    return next((str(card.get("owned_by", "")).casefold() for card in _cards(found)), "")


def _cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    listed = found.get(MODELS)
    cards = listed.get("data") if isinstance(listed, dict) else None
    return [card for card in cards if isinstance(card, dict)] if isinstance(cards, list) else []


async def _document(http: httpx.AsyncClient, path: str) -> Any:
    answer = await fetched(http, path) if path != MODELS else await _models(http)
    return read_json(answer)


async def _models(http: httpx.AsyncClient) -> httpx.Response:
    """The answer that every server owes; raises `Unreachable`."""
    try:
        answer = await http.get(MODELS, timeout=PATIENCE_S)
    except httpx.HTTPError as error:
        raise Unreachable(f"GET {MODELS}: {failures.broken(error, 0)}") from None
    if answer.status_code in FORBIDDEN:
        what = "api_key_env names no valid key"
        raise Unreachable(f"GET {MODELS}: HTTP {answer.status_code}: {what}")
    if answer.is_server_error:
        raise Unreachable(f"GET {MODELS}: HTTP {answer.status_code}: it is not ready")
    return answer
