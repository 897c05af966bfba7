"""Made-up records for the tests of the store, the figures and the reports.

One rule: the same arguments make the same records; nothing here runs an engine.
"""

from __future__ import annotations

from lab.records import ArmHistory, ArmVerdict, Comparison, Finding, Reply, RunVerdict
from lab.stats import fisher, newcombe, wilson

RIGHT = "<think>Call f for K1.</think>\n\n<｜DSML｜tool_calls>\n</｜DSML｜tool_calls>"
WRONG = "<think>Call f for K1.</think>\n\n<｜DSML｜tool_cblls>\n<｜DSML｜tool_cblls>"
ARMS = {"bf16, graph on": 10, "fp8, graph on": 0, "bf16, graph off": 0}
VIOLATION = "padded_row_wrote_owned_slot"


def reply(session: int, turn: int, *, text: str = RIGHT, status: str = "ok") -> Reply:
    """One reply that was due, sent at the session's own second."""
    answered = status == "ok"
    return Reply(
        session=session,
        turn=turn,
        due=True,
        status=status,
        finish_reason="tool_calls" if answered else None,
        raw_text=text if answered else None,
        content=None,
        reasoning="Call f for K1." if answered else None,
        tool_calls=({"id": "1", "function": {"name": "f", "arguments": '{"a":"｜"}'}},),
        prompt_tokens=6000 + turn,
        cached_tokens=256 * turn,
        completion_tokens=len(text),
        sent_s=session + turn / 10,
        first_token_s=session + turn / 10 + 0.03 if answered else None,
        done_s=session + turn / 10 + 0.1 if answered else None,
        request_id=f"r{session}-{turn}",
        error=None if answered else "timed out",
        expected_text=RIGHT,
        expected_call={"name": "f", "arguments": {"a": "V1"}},
    )


def history(name: str, *, corrupt: int = 0, sessions: int = 60, turns: int = 4) -> ArmHistory:
    """An arm whose last ``corrupt`` sessions have a wrong last reply."""
    replies = [
        reply(s, t, text=WRONG if t == turns - 1 and s >= sessions - corrupt else RIGHT)
        for t in range(turns)
        for s in range(sessions)
    ]
    violations = {f"violation:{VIOLATION}": 31} if corrupt else {}
    return ArmHistory(
        name=name,
        settings={"index_k": "bf16", "graph": True, "graph_max_bs": 64, "arrival_rate": 2.5},
        sessions=sessions,
        replies=replies,
        counters={"padded_rows": 5123, "prefix_hits": 240, "retractions": 0, **violations},
        events=[(1_000 * i, "store", {"row": i, "pool": "index_k"}) for i in range(20)],
        history_digest="sha256:" + "0" * 64,
        wall_s=14.25,
        virtual_s=812.4,
    )


def findings(arm: ArmHistory) -> list[Finding]:
    """What a detector says of the wrong replies of ``history``."""
    return [
        Finding(it.session, it.turn, "leaked_markup", "fail", "markup in the visible text")
        for it in arm.replies
        if it.raw_text == WRONG
    ]


def arm_verdict(arm: ArmHistory, *, corrupt: int, expected: str | None = None) -> ArmVerdict:
    """The verdict that fits ``history(..., corrupt=corrupt)``."""
    return ArmVerdict(
        name=arm.name,
        settings=arm.settings,
        sessions=arm.sessions,
        sessions_corrupt=corrupt,
        replies_due=len(arm.replies),
        replies_corrupt=corrupt,
        unfinished=0,
        rate=corrupt / arm.sessions,
        ci95=wilson(corrupt, arm.sessions),
        outcomes={"leaked_markup": corrupt} if corrupt else {},
        violations={VIOLATION: 31} if corrupt else {},
        exposure={k: v for k, v in arm.counters.items() if not k.startswith("violation:")},
        verdict="corrupt" if corrupt else "clean",
        expected=expected,
        history_digest=arm.history_digest,
        wall_s=arm.wall_s,
        virtual_s=arm.virtual_s,
    )


def run_verdict(run: str, arms: list[ArmHistory], corrupt: dict[str, int]) -> RunVerdict:
    """Verdicts of all arms, each compared with the first."""
    verdicts = [
        arm_verdict(
            arm, corrupt=corrupt[arm.name], expected="corrupt" if corrupt[arm.name] else "clean"
        )
        for arm in arms
    ]
    first, *others = verdicts
    comparisons = [
        Comparison(
            first.name,
            other.name,
            "fisher",
            fisher(first.sessions_corrupt, first.sessions, other.sessions_corrupt, other.sessions),
            newcombe(
                first.sessions_corrupt, first.sessions, other.sessions_corrupt, other.sessions
            ),
        )
        for other in others
    ]
    return RunVerdict(run, "padded_scatter", 7, 14.5, 812.4, tuple(verdicts), tuple(comparisons))


def sample_run(run: str = "20261129T194500-ab12") -> tuple[RunVerdict, list[ArmHistory]]:
    """Three arms of 60 sessions, the first one corrupt in 10."""
    arms = [history(name, corrupt=corrupt) for name, corrupt in ARMS.items()]
    return run_verdict(run, arms, ARMS), arms
