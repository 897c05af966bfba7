"""A fault of a build is variables for a server that is not ours, and no toggle knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import ScenarioError, UserError
from lab.profiles import boot_key, commands, example_ports, load_profile
from lab.profiles.loader import SHIPPED, parse_profile

SHOP = """\
name: shop
about: a server
status: "run: by this test"
params: {when: p=1}
nodes: [{name: server, command: "serve --port {port} {toggles*}"}]
endpoint: server
toggles: {radix: {about: prefixes, type: switch, "off": [--no-radix], default: true}}
faults:
  loses_pages: {about: pages, env: {FAULT: "pages {when}"}, rows: "fault (.*)"}
  loses_rows: {about: rows, env: {FAULT: "rows {when}", HERE: "{here}"}, rows: "fault (.*)"}
"""


def variables(*build: str, **params: str) -> dict[str, str]:
    profile = parse_profile(SHOP, "folder/shop.yaml")
    (command,) = commands(profile, {}, params, example_ports(profile), build)
    return dict(command.env)


def test_a_build_sets_the_variables_of_its_fault() -> None:
    assert variables("loses_pages", when="p=0.5") == {"FAULT": "pages p=0.5"}
    assert variables("loses_rows") == {"FAULT": "rows p=1", "HERE": str(Path("folder").resolve())}
    assert variables() == {}


def test_boots_with_and_without_it_are_not_shared() -> None:
    profile = parse_profile(SHOP, "shop.yaml")
    assert boot_key(profile, {}, {}, ["loses_rows"]) != boot_key(profile, {}, {})


@pytest.mark.parametrize("build", [("loses_money",), ("loses_pages", "loses_rows")])
def test_a_build_is_one_of_the_faults(build: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match="a build is one of loses_pages, loses_rows"):
        variables(*build)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("{when}", "{then}", "'then' is not known"),
        ("fault (.*)", "fault .*", "must have one group"),
    ],
)
def test_a_mistake_in_a_fault_is_one_line(right: str, wrong: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        parse_profile(SHOP.replace(right, wrong, 1), "shop.yaml")


def test_those_of_vllm_find_their_plugin() -> None:
    profile = load_profile("vllm")
    assert len(profile.faults) == 4
    for fault in profile.faults.values():
        folder = fault.env["PYTHONPATH"].replace("{here}", str(SHIPPED))
        assert (Path(folder) / "kvlab_vllm_fault" / "__init__.py").exists()
