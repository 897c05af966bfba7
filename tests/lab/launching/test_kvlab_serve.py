"""The bundled engine, launched as a real server: sick where its build says so, set as asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import TargetError
from lab.launching import Servers
from lab.profiles import load_profile
from tests.lab.launching.launched import get

BUILD = ("padded_scatter_stale_slots",)


def test_it_runs_with_the_settings_and_the_build_that_were_asked_for(tmp_path: Path) -> None:
    profile = load_profile("kvlab_serve")
    asked = {"index_k": "bf16", "hicache": True, "graph_max_bs": 16, "pool_pages": 64}
    with Servers(profile, tmp_path, {"seed": "5"}, BUILD) as servers:
        server = servers.up(asked)
        told = get(f"{server.base_url}/server_info")
    read = {key: found.of_json(told) for key, found in profile.readback.items()}
    assert asked.items() <= read.items()
    assert read == {key: toggle.default for key, toggle in profile.toggles.items()} | asked
    assert (told["seed"], tuple(told["build"]), told["max_running"]) == (5, BUILD, 64)


def test_a_configuration_that_cannot_work_is_told_in_its_own_words(tmp_path: Path) -> None:
    with Servers(load_profile("kvlab_serve"), tmp_path) as servers:
        with pytest.raises(TargetError, match=r"exit code 2: kvlab: .*radix"):
            servers.up({"hicache": True, "radix": False})
