"""Every shipped profile launches: a stand-in takes documented options and refuses the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.errors import TargetError
from lab.launching import Servers
from lab.profiles import Profile, load_profile
from tests.lab.launching.launched import PYTHON, get

PARAMS: Mapping[str, Mapping[str, str]] = {
    "vllm": {"model_path": "Qwen/Qwen2-0.5B", "vllm": f"{PYTHON} vllm"},
    "sglang": {"model_path": "a model", "python": PYTHON},
    "vllm_pd": {
        "model_path": "Qwen/Qwen2-0.5B",
        "vllm": f"{PYTHON} vllm",
        "python": PYTHON,
        "proxy": "toy_proxy_server.py",
    },
    "sglang_pd": {"model_path": "Qwen/Qwen2-0.5B", "python": PYTHON},
}


def everything(profile: Profile) -> dict[str, Any]:
    """A value for every toggle that its server is not at by itself."""
    return {key: other(profile, key) for key in profile.toggles}


def other(profile: Profile, key: str) -> Any:
    """A value of the toggle that is not its default."""
    option = profile.options[key]
    match option.type:
        case "switch":
            return not option.default
        case "choice":
            return next(one for one in (*option.values, *option.choices) if one != option.default)
        case "text":
            return "something"
    return max(1, option.least)


@pytest.mark.parametrize("name", PARAMS)
def test_a_profile_launches_with_nothing_set(name: str, tmp_path: Path) -> None:
    profile = load_profile(name)
    with Servers(profile, tmp_path, PARAMS[name]) as servers:
        server = servers.up({})
        assert set(server.urls) == {node.name for node in profile.nodes}
        assert server.model == ("Qwen/Qwen2-0.5B" if name.endswith("_pd") else "")


@pytest.mark.parametrize("name", PARAMS)
def test_a_profile_launches_with_everything_set(name: str, tmp_path: Path) -> None:
    profile = load_profile(name)
    with Servers(profile, tmp_path, PARAMS[name]) as servers:
        server = servers.up(everything(profile))
        for command in server.commands:
            told = get(server.urls[command.name])
            assert told["argv"] == list(command.argv)[2:]
            assert command.env.items() <= told["env"].items()


def test_an_option_that_is_not_documented_is_refused_in_one_line(tmp_path: Path) -> None:
    params = {**PARAMS["vllm"], "extra_args": "--swap-space 4"}
    with Servers(load_profile("vllm"), tmp_path, params) as servers:
        with pytest.raises(TargetError, match="error: vllm: unrecognized arguments: --swap-space"):
            servers.up({})
