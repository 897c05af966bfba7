"""Every arm several times, for `--repeats` of `run`, `ab` and `sweep`.

One rule: each repetition is an arm like any other, on a boot of its own, with the first one's load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.scenario.document import Patch
from lab.scenario.loader import parse_scenario
from lab.scenario.pairs import spelled

if TYPE_CHECKING:
    from lab.scenario.models import Scenario


def repeated(scenario: Scenario, times: int, *, here: bool = True) -> Scenario:
    """The scenario with its arms in ``times`` rounds; ``NAME #2`` is an arm's second repetition.

    What is expected of an arm is expected of its repetitions too. Raises `ScenarioError`, with
    ``here`` also for what is not installed.
    """
    if times == 1 or not scenario.arms:
        return scenario
    last = max(arm.round for arm in scenario.arms)
    arms: list[dict[str, Any]] = [spelled(arm) for arm in scenario.arms]
    expect = {name: one.model_dump(mode="json") for name, one in scenario.expect.items()}
    for number in range(2, times + 1):
        for arm in scenario.arms:
            name, round_ = f"{arm.name} #{number}", (number - 1) * last + arm.round
            arms.append({**spelled(arm), "name": name, "round": round_})
            if arm.name in expect:
                expect[name] = expect[arm.name]
    option = f"--repeats {times}"
    patches = [Patch(("arms",), arms, option), Patch(("expect",), expect, option)]
    return parse_scenario(scenario.source, str(scenario.path), patches, here=here)
