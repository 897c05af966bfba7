"""A launch profile and a scenario over it, for the tests of targets that are no engine of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = """\
name: shop
about: a server that is not ours
status: "not run by us: it is made up"
params: {model_path: null, python: python3}
nodes:
  - name: server
    command: "{python} -m shop --model {model_path} --port {port} {toggles*}"
endpoint: server
toggles:
  prefix_caching:
    about: whether prefixes are kept
    type: switch
    on: [--enable-prefix-caching]
    off: [--no-enable-prefix-caching]
  max_num_seqs: {about: requests at once, type: int, flag: --max-num-seqs, least: 1, most: 64}
  kv_dtype: {about: of the cache, type: choice, flag: --kv-cache-dtype, choices: [auto, fp8]}
"""
SERVED = """\
name: served
target: {profile: PROFILE, model_path: /models/tiny}
workload: {kind: tool_sessions, preset: small}
engine: {prefix_caching: true, concurrency: 4}
arms:
  - {name: cached}
  - {name: uncached, prefix_caching: false}
  - {name: cached and alone, concurrency: 1}
toggles:
  prefix_caching: {bad: true, good: false}
  max_num_seqs: {bad: 16, good: 1}
  kv_dtype: {bad: fp8, good: auto}
"""


def profile(folder: Path) -> Path:
    """The profile as a file."""
    path = folder / "shop.yaml"
    path.write_text(PROFILE, encoding="utf-8")
    return path


def served(folder: Path, was: str = "", becomes: str = "") -> Path:
    """The scenario over it as a file, one place of it changed; the place must be there."""
    assert was in SERVED
    path = folder / "served.yaml"
    text = SERVED.replace(was, becomes, 1) if was else SERVED
    path.write_text(text.replace("PROFILE", str(profile(folder))), encoding="utf-8")
    return path
