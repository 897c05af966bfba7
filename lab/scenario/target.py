"""The value of `target:` in a scenario file. One rule: an API key is named, never given.

bundled                                          the engine in this process
http://host:port                                 a server that somebody else started
{base_url: URL, model: NAME, api_key_env: VAR}   the same, with its model and its key; also
                                                 flush: PATH, max_requests_per_s: N
vllm, or a profile's file                        a server that is launched for the arms
{profile: NAME, PARAMETER: VALUE, ...}           the same, with the profile's parameters
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.profiles import known
from lab.scenario.problem import Path, Problem, spell
from lab.targets.spec import (
    BUNDLED,
    OF_A_URL,
    THE_BUNDLED,
    VARIABLE,
    TargetSpec,
    base_url,
    profile_of,
)

if TYPE_CHECKING:
    from lab.profiles import Profile

AT: Path = ("target",)
BESIDE = ("base_url", *OF_A_URL)
A_URL = "http://host:port"
PATH = re.compile(r"/[^\s#]*")
Found = TargetSpec | Problem


def target_of(given: Any) -> Found:
    """The target that a file names, or what is wrong with it.

    Raises `UserError` for a profile whose own file is wrong.
    """
    if given == BUNDLED:
        return THE_BUNDLED
    if isinstance(given, str):
        return _url(given, AT) if "://" in given else _profile(given, {}, AT)
    if not isinstance(given, Mapping):
        return Problem(AT, f"{spell(given)} is not accepted", _accepted())
    if "base_url" in given:
        return _mapped_url(given)
    if "profile" in given:
        at: Path = (*AT, "profile")
        if not isinstance(given["profile"], str):
            return Problem(at, f"{spell(given['profile'])} is not accepted", _profiles())
        rest = {key: value for key, value in given.items() if key != "profile"}
        return _profile(given["profile"], rest, at)
    return Problem(AT, "names no server", f"base_url: {A_URL}, or profile: {_profiles()}")


def _url(text: str, at: Path, **more: Any) -> Found:
    if "@" in text:
        what = "holds a name or a password, which would be stored; api_key_env names the variable"
        return Problem(at, f"{what} that holds a key", A_URL)
    found = base_url(text)
    if not found:
        return Problem(at, "is no base URL of a server", A_URL)
    return TargetSpec("url", found, **more)


def _mapped_url(given: Mapping[str, Any]) -> Found:
    for key, value in given.items():
        at: Path = (*AT, key)
        if key not in BESIDE:
            return Problem(at, "unknown key", ", ".join(BESIDE), key, BESIDE)
        if wrong := _wrong_beside(at, key, value):
            return wrong
    more = {key: value for key, value in given.items() if key != "base_url"}
    return _url(given["base_url"], (*AT, "base_url"), **more)


def _wrong_beside(at: Path, key: str, value: Any) -> Problem | None:
    """What is wrong with a value beside a URL, or with the URL's own kind."""
    if key == "max_requests_per_s":
        good = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        return None if good else Problem(at, f"{spell(value)} is not accepted", "a number above 0")
    if key == "api_key_env" and not (isinstance(value, str) and VARIABLE.fullmatch(value)):
        return Problem(at, "names no environment variable", "one such as OPENAI_API_KEY")
    if key == "flush" and not (isinstance(value, str) and PATH.fullmatch(value)):
        return Problem(at, f"{spell(value)} is not accepted", "a path such as /flush_cache")
    return (
        None if isinstance(value, str) else Problem(at, f"{spell(value)} is not accepted", "text")
    )


def _profile(name: str, given: Mapping[str, Any], at: Path) -> Found:
    if not (name in known() or "/" in name or name.endswith((".yaml", ".yml"))):
        options = (*((BUNDLED,) if at == AT else ()), *known())
        accepted = _accepted() if at == AT else _profiles()
        return Problem(at, f"{spell(name)} is not accepted", accepted, name, options)
    profile = profile_of(name)
    for key, value in given.items():
        if wrong := _wrong_parameter(profile, key, value):
            return wrong
    left = [key for key, value in profile.params.items() if value is None and key not in given]
    if left:
        form = f"{{profile: {name}, {left[0]}: VALUE}}"
        return Problem(AT, f"{profile.name} needs {', '.join(left)}", form)
    return TargetSpec("profile", name, params={key: _text(one) for key, one in given.items()})


def _wrong_parameter(profile: Profile, key: str, value: Any) -> Problem | None:
    at, params = (*AT, key), tuple(profile.params)
    if key not in params:
        accepted = ", ".join(("profile", *params))
        return Problem(at, f"{profile.name} has no such parameter", accepted, key, params)
    if isinstance(value, dict | list) or value is None:
        return Problem(at, f"{spell(value)} is not accepted", "text or a number")
    return None


def _text(value: Any) -> str:
    return spell(value) if isinstance(value, bool) else str(value)


def _accepted() -> str:
    return f"{BUNDLED}, {A_URL}, {_profiles()}"


def _profiles() -> str:
    return f"{', '.join(known())} or a profile's file"
