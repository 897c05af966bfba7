"""What `doctor --bench` says of a pair: ratios of one run, and that timeouts were virtual."""

from __future__ import annotations

from lab.bench_pair import pair_cost

LOAD = """
name: pair
workload: {kind: tool_sessions, preset: small, sessions: 2, turns: 1}
arms:
  - {name: alone}
  - name: timed out
    pd: true
    workers: 1
    queue_size: 1
    wire_gb_per_s: 0.001
    waiting_timeout: 20
"""


def test_arms_are_told_as_multiples_of_the_first_and_with_what_they_waited_for() -> None:
    said = pair_cost(LOAD)
    assert list(said) == ["alone", "timed out"]
    assert "s virtual" in said["alone"]
    assert " x the time alone (20 s virtual, 2 waiting timeouts)" in said["timed out"]
