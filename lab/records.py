"""What a run leaves behind: plain records from the driver to the store, the judges and the reports.

One rule: a record holds what was observed, never what was concluded (that is a ``Finding``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.disagg.records import RoomDigest, RoomRecord


NO_DIGEST = "wall clock: not reproducible"  # instead of a digest of times that nobody sees twice
RULES = 9  # of verdicts: rises with every change that may judge a stored run otherwise


@dataclass(frozen=True)
class TurnPlan:
    """What one turn must answer: known before anything is sent."""

    prompt_messages: tuple[dict[str, Any], ...]  # messages added before this turn's reply
    expected_text: str  # the whole reply as raw text, without the end-of-sequence token
    expected_call: dict[str, Any]  # {"name": str, "arguments": {...}}
    tool_result: str  # what the tool returns when the expected call is made


@dataclass(frozen=True)
class Stages:
    """Which turns go first: no turn is sent before all turns of an earlier stage are over.

    That holds among the sessions of one ``circle``; a session that ends early holds nobody up.
    """

    circle: int
    of_turn: tuple[int, ...]  # the stage of each turn, never falling


@dataclass(frozen=True)
class Repeat:
    """A session that asks what session ``of`` asks, itself where it is the first of all."""

    of: int
    phase: str  # "cold" | "warm" | "in a flood" | "evicted" | "flood"


@dataclass(frozen=True)
class SessionPlan:
    """One simulated client: its system prompt, its turns and its secrets."""

    index: int
    group: int  # sessions of a group share the manual, hence a prefix
    system: str
    tools: tuple[dict[str, Any], ...]
    turns: tuple[TurnPlan, ...]
    secrets: tuple[str, ...]  # strings that only this session, and others that list them, may say
    start_s: float  # arrival, seconds after the arm's start
    think_s: tuple[float, ...]  # pause before each turn, seconds
    stages: Stages | None = None  # None: whatever the others do
    repeats: Repeat | None = None  # in loads that ask the same again: every session has one
    raw: bool = False  # the content is the whole text: no tools are sent, and the lab parses it


@dataclass(frozen=True)
class Reply:
    """One reply that was due, whatever became of it. Times in seconds of the arm's clock.

    ``tries`` is how often it was asked for; all else is of the last time, but ``first_sent_s``.
    ``gaps_ms`` are the milliseconds between parts of a streamed text: ``n`` of them, their
    ``mean``, ``p50``, ``p99`` and ``max``; empty where nothing was streamed.
    """

    session: int
    turn: int
    due: bool
    status: str  # "ok" | "timeout" | "transport_error" | "aborted" | "not_sent"
    finish_reason: str | None
    raw_text: str | None  # detokenised, special tokens spelled out; None if unknown
    content: str | None
    reasoning: str | None
    tool_calls: tuple[dict[str, Any], ...]
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    sent_s: float
    first_token_s: float | None
    done_s: float | None
    request_id: str | None = None
    error: str | None = None
    tries: int = 1
    first_sent_s: float | None = None  # None where nobody noted it: as ``sent_s``
    last_token_s: float | None = None  # None where it did not come in parts
    gaps_ms: dict[str, float] = field(default_factory=dict)
    cached_tiers: dict[str, int] = field(default_factory=dict)  # cached tokens by where they lay
    chunks: tuple[str, ...] = ()  # what came of a failed reply, as it was cut; the first of it
    expected_text: str = ""
    expected_call: dict[str, Any] = field(default_factory=dict)

    @property
    def began_s(self) -> float:
        """When it was asked for the first time."""
        return self.sent_s if self.first_sent_s is None else self.first_sent_s


@dataclass(frozen=True)
class Finding:
    """One detector's word on one reply."""

    session: int
    turn: int
    detector: str  # e.g. "leaked_markup"
    outcome: str  # "fail" | "unknown" | "pass"
    detail: str
    kind: str = "corrupt"  # or "missed", "parser_fault", "unfinished", "nondeterministic"


@dataclass
class ArmHistory:
    """All that one arm left: what the judges read."""

    name: str
    settings: dict[str, Any]  # effective configuration after overrides
    sessions: int
    replies: list[Reply]
    counters: dict[str, int]  # exposure and violations ("violation:<name>")
    events: list[tuple[int, str, dict[str, Any]]]  # (virtual ns, kind, fields)
    history_digest: str
    wall_s: float
    virtual_s: float
    stalled: str | None = None  # the clock's message when the arm wedged
    timeout_s: float | None = None  # how long its clients waited for a reply, where that is known
    rooms: list[RoomRecord] = field(default_factory=list)  # of a disaggregated arm
    digests: list[RoomDigest] = field(default_factory=list)  # of its rooms' pages, on both sides


@dataclass(frozen=True)
class Asked:
    """How a run was asked for: enough to type it again, and to see where it leaves its file."""

    argv: tuple[str, ...] = ()  # the command, without where its results went
    sets: tuple[str, ...] = ()  # what --set changed
    sessions: dict[str, int] = field(default_factory=dict)  # of the file, for arms that were capped


@dataclass(frozen=True)
class LateWrite:
    """What pieces of a room destroyed of one victim in ``pools`` after the room lost its pages.

    ``pages`` of them, the first numbered ``first``: of a piece's pages, each time that one was hit;
    ``unit`` is ``request slot`` where they are that. ``victim_room`` is 0 for a victim that is no
    request.
    """

    writer_room: int
    victim_room: int
    victim: str
    piece: str  # kv | state
    unit: str  # page | request slot
    first: int
    pages: int
    rows: int
    pools: str = ""  # ``c4, index_k, c128``; empty in verdicts that were stored without
    writer_session: int | None = None  # None, like those that follow: not known
    writer_turn: int | None = None
    victim_session: int | None = None
    victim_turn: int | None = None
    bystander: bool | None = None  # whether no try of the victim's session failed


@dataclass(frozen=True)
class ArmVerdict:
    """What the judges concluded about one arm; rates are per session."""

    name: str
    settings: dict[str, Any]
    sessions: int  # those that were owed a reply
    sessions_corrupt: int
    replies_due: int
    replies_corrupt: int
    unfinished: int
    rate: float
    ci95: tuple[float, float]
    outcomes: dict[str, int]  # detector -> corrupt replies (first detector that fired)
    violations: dict[str, int]  # broken invariants, by name
    exposure: dict[str, int]
    verdict: str  # clean | corrupt | inconclusive | wedged | nondeterministic | parser_fault
    expected: str | None
    history_digest: str
    wall_s: float
    virtual_s: float
    reason: str = ""  # one phrase: why inconclusive, who wedged, what a clean arm went through
    faults: dict[str, int] = field(default_factory=dict)  # what destroyed no row, by name
    expected_violations: tuple[str, ...] = ()  # and faults: those that the scenario wants to see
    caveat: str = ""  # why the expectation is not this run's: it was smaller, or changed
    mismatches: tuple[str, ...] = ()  # pools that are another size on the host, one phrase each
    late_writes: tuple[LateWrite, ...] = ()  # which room wrote into whose pages
    room_failures: dict[str, int] = field(default_factory=dict)  # rooms that failed, by reason
    boot: int | None = None  # of the launched server that served it, as its logs are numbered
    sessions_silent: int = 0  # of which no reply came whole: they show nothing, and are in no rate
    sessions_missed: int = 0  # not corrupt ones in which a model whose texts nobody knows missed
    replies_missed: int = 0
    missed: dict[str, int] = field(default_factory=dict)  # as ``outcomes``, of missed replies
    control: str = ""  # the arm that what was missed is held against
    ci95_missed: tuple[float, float] = (0.0, 1.0)  # of ``rate_missed``
    rules: int = RULES  # by which it was judged

    @property
    def sessions_judged(self) -> int:
        """The n of every rate."""
        return self.sessions - self.sessions_silent

    @property
    def sessions_wrong(self) -> int:
        """Corrupt, or missed."""
        return self.sessions_corrupt + self.sessions_missed

    @property
    def rate_missed(self) -> float:
        """Sessions missed of those that show anything; 0.0 where none does."""
        return self.sessions_missed / self.sessions_judged if self.sessions_judged else 0.0

    @property
    def seen(self) -> dict[str, int]:
        """Violations, then faults."""
        return self.violations | self.faults


@dataclass(frozen=True)
class Comparison:
    """Two arms set side by side: difference of session rates, a minus b.

    ``_missed`` is the same of sessions that are corrupt or missed; None where neither arm missed.
    """

    a: str
    b: str
    test: str
    p_value: float
    difference_ci95: tuple[float, float]
    p_value_missed: float | None = None
    difference_ci95_missed: tuple[float, float] | None = None


@dataclass(frozen=True)
class RunVerdict:
    """A whole run as `kvlab run --json` prints it."""

    run: str
    scenario: str
    seed: int
    wall_s: float
    virtual_s: float
    arms: tuple[ArmVerdict, ...]
    comparisons: tuple[Comparison, ...]
    incomplete: str = ""  # how it ended before its last arm, and how many are stored

    @property
    def older_rules(self) -> bool:
        """Whether a stored verdict was found by other rules than this kvlab's."""
        return any(arm.rules != RULES for arm in self.arms)
