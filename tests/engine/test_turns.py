"""By a wall clock a step holds up the loop: between two of them everybody else gets a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from engine.text.tokenizer import encode

if TYPE_CHECKING:
    from collections.abc import Callable

TOKENS = 4


def order_of_events(run: Callable[[Any], Any]) -> list[str]:
    """Launched steps and read tokens, as they come."""
    engine = Engine(EngineConfig(pool_pages=4, model=ModelConfig(index_topk=16)))
    happened: list[str] = []
    launch = engine.runner.launch

    def launched(*given: Any) -> Any:
        happened.append("step")
        return launch(*given)

    engine.runner.launch = launched  # type: ignore[method-assign]

    async def main() -> None:
        async for _ in engine.submit(list(encode("hello")), TOKENS):
            happened.append("token")
        await engine.stop()

    run(main())
    return happened


def test_what_a_step_said_is_read_before_the_next_step() -> None:
    assert order_of_events(clock.run_wall) == ["step", "token"] * TOKENS


def test_by_the_virtual_clock_nothing_is_waited_for() -> None:
    assert order_of_events(clock.run)[:3] == ["step", "step", "token"]
