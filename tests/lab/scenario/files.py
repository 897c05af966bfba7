"""A scenario without a mistake, for the tests that put one in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
# yaml-language-server: $schema=../schema.json
name: good
about: bf16 index-K written by the padded rows of a captured decode
build: [padded_scatter_stale_slots]          # what the code under test contains
target: bundled
workload: {kind: tool_sessions, preset: reference, sessions: 60}
engine: {index_k: bf16, graph: true, concurrency: 60}
arms:
  - {name: "bf16, graph on"}
  - {name: "fp8, graph on", index_k: fp8}
  - {name: "bf16, one at a time", concurrency: 1, sessions: 12}
toggles:
  index_k: {bad: bf16, good: fp8}
  graph: {bad: true, good: false}
expect:
  "bf16, graph on": {verdict: corrupt, violations: [padded_row_wrote_owned_slot]}
  "*": {verdict: clean}
"""


def write(folder: Path, text: str = GOOD) -> Path:
    """The text as a file."""
    path = folder / "good.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def broken(folder: Path, was: str, becomes: str) -> Path:
    """The good scenario with one place changed; the place must be there."""
    assert was in GOOD
    return write(folder, GOOD.replace(was, becomes, 1))


CAMPAIGN = """\
name: campaign
workload: {kind: tool_sessions, preset: small}
engine: {radix: true}
toggles:
  index_k: {bad: bf16, good: fp8}
  graph: {bad: true, good: false}
  pd: {bad: true, good: false}
  queue_size: {bad: 8, good: 32}
  concurrency: {bad: 8, good: 1}
  wire_gb_per_s: {bad: 0.25, good: 0.0}
constraints:
  index_k: {graph: true}
bisect:
  budget: 1500
  unit: auto
  weights: {graph: 2.0, pd: 1.5}
  ladders: {concurrency: [1, 2, 4, 8], wire_gb_per_s: [1.0, 0.5]}
sweep: {concurrency: [1, 2, 4, 8]}
"""
