"""Each incident concludes what its file expects: the defect's arms fail by name, cures pass."""

import pytest

from tests.scenarios.whole import arms, run, scenario

PADDED = ("padded_scatter_stale_slots", "padded_scatter_wraps_to_last_slot")
DECOY = "index_k_under_allocated"
EVERY = [(name, arm) for name in (*PADDED, DECOY) for arm in arms(f"incidents/{name}")]


@pytest.mark.parametrize(("name", "arm"), EVERY, ids=lambda value: value)
def test_an_arm_concludes_what_its_file_expects(name: str, arm: str) -> None:
    of = scenario(f"incidents/{name}", 4 if "one at a time" in arm else 8)
    expected = of.expected(arm)
    assert expected is not None
    _, verdict = run(of, arm)
    assert verdict.verdict == expected.verdict, verdict.reason
    assert set(expected.violations) <= set(verdict.violations)


@pytest.mark.parametrize("name", [*PADDED, DECOY])
def test_the_healthy_build_passes_where_the_defect_fails(name: str) -> None:
    of = scenario(f"incidents/{name}", 8, "build=[]")
    _, verdict = run(of, of.arms[0].name)
    assert (verdict.verdict, verdict.violations) == ("clean", {})


def test_the_decoy_breaks_eager_replies_as_well() -> None:
    of = scenario(f"incidents/{DECOY}", 4)
    for arm in ("bf16, graph on", "bf16, graph off"):
        assert run(of, arm)[1].replies_corrupt > 0
