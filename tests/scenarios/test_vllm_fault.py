"""The fault for a real vLLM, over schedules as vLLM 0.32 writes them and real KV tensors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.scenarios.whole import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE, BLOCKS, LAYERS = 4, 16, 2
Told = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "real" / "vllm_fault")


@dataclass
class Server:
    """A worker of vLLM with a pool, whose rows are what their request and position say."""

    text: str
    capsys: pytest.CaptureFixture[str]
    caches: list[torch.Tensor] = field(
        default_factory=lambda: [torch.zeros(BLOCKS * 2, 2, SIZE // 2, 3) for _ in range(LAYERS)]
    )
    finished: list[str] = field(default_factory=list)
    resumed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        from kvlab_vllm_fault.fault import Fault
        from kvlab_vllm_fault.stated import stated

        self.fault = Fault(stated(self.text))
        runner = SimpleNamespace(
            kv_caches=[*self.caches, self.caches[0]],
            kv_cache_config=SimpleNamespace(num_blocks=BLOCKS),
            cache_config=SimpleNamespace(block_size=SIZE),
        )
        self.worker = SimpleNamespace(model_runner=runner, rank=0)

    def step(self, new: Sequence[Any] = (), on: Sequence[Any] = (), **tokens: int) -> Told:
        """One step: requests that begin, and that go on; what the log says of it."""
        again = SimpleNamespace(
            req_ids=[request for request, *_ in on],
            resumed_req_ids=set(self.resumed),
            num_computed_tokens=[computed for _, computed, _, _ in on],
            num_output_tokens=[said for _, _, said, _ in on],
            new_block_ids=[(more,) if more else None for *_, more in on],
        )
        scheduled = SimpleNamespace(
            scheduled_new_reqs=list(new),
            scheduled_cached_reqs=again,
            num_scheduled_tokens=tokens,
            finished_req_ids=set(self.finished),
        )
        self.fault.before(scheduled, self.worker)
        self.finished, self.resumed = [], set()
        lines = self.capsys.readouterr().out.splitlines()
        return [json.loads(line.removeprefix("kvlab-fault ")) for line in lines]

    def write(self, block: int, value: float) -> None:
        for cache in self.caches:
            cache.unflatten(0, (BLOCKS, -1))[block] = value

    def holds(self, block: int) -> float:
        layers = [cache.unflatten(0, (BLOCKS, -1))[block] for cache in self.caches]
        values = {float(value) for layer in layers for value in layer.unique()}
        assert len(values) == 1
        return values.pop()


def begins(request: str, prompt: int, table: list[int], computed: int = 0) -> SimpleNamespace:
    return SimpleNamespace(
        req_id=request,
        prompt_token_ids=[0] * prompt,
        block_ids=(table,),
        num_computed_tokens=computed,
    )


def two_turns(text: str, capsys: pytest.CaptureFixture[str]) -> tuple[Server, Told]:
    """One request says 6 tokens behind a prompt of 6; another's stays; the next turn finds 2 blocks
    of the first, of which the second was written by both kinds of step.
    """
    server = Server(text, capsys)
    server.step([begins("a", 6, [1, 2]), begins("b", 8, [5, 6])], a=6, b=8)
    server.step(on=[("a", 6, 1, [])], a=1)
    server.step(on=[("a", 7, 2, [])], a=1)
    for block in (1, 2, 5, 6):
        server.write(block, block)
    server.finished = ["a", "b"]
    return server, server.step([begins("c", 12, [1, 2, 7], 8)], c=4)


def test_the_contents_of_two_blocks_are_swapped_and_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server, told = two_turns("kind=swap written=decode", capsys)
    one, met, other = told
    assert (one["block_id"], one["wrote"], one["prefill"], one["decode"]) == (2, "a", 2, 2)
    assert met == {
        **{"met": 1, "request": "c", "block": 1, "first": 4, "end": 8, "computed": 8},
        **{"prefill": 2, "decode": 2, "step": 4},
    }
    assert other["damage"] == 2
    assert other["wrote"] == "b"
    assert server.holds(2) == other["block_id"]
    assert server.holds(other["block_id"]) == 2


def test_a_block_is_zeroed(capsys: pytest.CaptureFixture[str]) -> None:
    server, told = two_turns("kind=zero written=prefill seed=3", capsys)
    block = told[0]["block_id"]
    assert server.holds(block) == 0.0
    assert [server.holds(it) for it in (1, 2, 5, 6) if it != block] == [
        it for it in (1, 2, 5, 6) if it != block
    ]


def test_a_stale_block_holds_what_it_held_before(capsys: pytest.CaptureFixture[str]) -> None:
    server, told = two_turns("kind=stale", capsys)
    assert told == []  # nothing was ever written twice
    server.finished = ["c"]
    server.step([begins("d", 8, [5, 6])], d=8)
    server.write(5, 50)
    server.write(6, 60)
    told = server.step([begins("e", 12, [5, 6, 8], 8)], e=4)
    block = told[0]["block_id"]
    assert server.holds(block) == block
    assert [it["request"] for it in told if "met" in it] == ["d", "e"]


def test_a_request_is_given_another_s_block(capsys: pytest.CaptureFixture[str]) -> None:
    server = Server("kind=double", capsys)
    server.step([begins("a", 4, [1]), begins("b", 4, [5])], a=4, b=4)
    server.write(1, 1)
    server.write(5, 5)
    new = begins("c", 8, [1, 7], 4)
    told = server.step([new], c=4)
    assert new.block_ids == ([5, 7],)
    assert [(it.get("damage"), it.get("met"), it["request"]) for it in told] == [
        (1, None, "c"),
        (None, 1, "c"),
    ]


def test_two_requests_write_one_block(capsys: pytest.CaptureFixture[str]) -> None:
    server = Server("kind=double at=decode", capsys)
    server.step([begins("a", 4, [1]), begins("b", 6, [5, 6])], a=4, b=6)
    more = [2]
    server.step(on=[("a", 4, 1, more), ("b", 6, 1, [])], a=1, b=1)
    assert more == [2]  # it does not decode yet
    server.step(on=[("a", 5, 2, [])], a=1)
    more = [3]
    told = server.step(on=[("a", 8, 5, more), ("b", 7, 2, [])], a=1, b=1)
    assert more == [6]
    assert [it["request"] for it in told if "met" in it] == ["a", "b"]


def test_whoever_is_given_a_damaged_block_later_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    server, told = two_turns("kind=zero most=1", capsys)
    damaged = told[0]["block_id"]
    server.finished = ["c"]
    (met,) = server.step([begins("d", 12, [1, 2, 9], 8)], d=4)
    assert (met["met"], met["request"], met["first"]) == (1, "d", (damaged - 1) * SIZE)
    server.finished = ["d"]
    assert server.step([begins("e", 8, [1, 2])], e=8) == []  # written anew


def test_a_preempted_request_that_begins_again_hits_what_it_wrote_and_computes_the_rest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = Server("kind=zero written=decode", capsys)
    server.step([begins("a", 4, [1])], a=4)
    for said in range(1, 6):
        server.step(on=[("a", 3 + said, said, [2] if said == 1 else [3] if said == 5 else [])], a=1)
    server.resumed = {"a"}
    told = server.step(on=[("a", 8, 6, [1, 2, 4])], a=2)
    assert [(it.get("block_id"), it.get("first")) for it in told] == [(2, None), (None, 4)]
    server.resumed = {"a"}
    # nothing of it is left: what it had said is a prompt now, and its rows are of prefill
    assert server.step(on=[("a", 0, 6, [5, 6, 7])], a=10) == []
    server.resumed = {"a"}
    assert server.step(on=[("a", 8, 6, [5, 6, 8])], a=2) == []


def test_nothing_is_damaged_without_hits_or_below_the_concurrency(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert two_turns("kind=zero running=2", capsys)[1] == []
    server = Server("kind=zero", capsys)
    assert server.step([begins("a", 6, [1, 2])], a=6) == []


def test_damage_at_the_first_decode_needs_no_cache(capsys: pytest.CaptureFixture[str]) -> None:
    server = Server("kind=zero at=decode", capsys)
    server.step([begins("a", 6, [1, 2])], a=6)
    server.write(1, 1)
    told = server.step(on=[("a", 6, 1, [])], a=1)
    assert [it.get("block_id") for it in told] == [1, None]
    assert server.holds(1) == 0.0


@pytest.mark.parametrize("text", ["kind=half", "colour=red"])
def test_a_fault_that_is_not_known_is_refused(text: str) -> None:
    from kvlab_vllm_fault.stated import stated

    with pytest.raises(ValueError, match="KVLAB_FAULT"):
        stated(text)
