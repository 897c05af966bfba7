"""Views of what was run, and what every client was answered.

One rule: a reply's text is read only by a question that names it, so counts over millions are fast.
"""

from __future__ import annotations

from lab.store.views.view import ARM, OF_ARM, RUN, SESSION, TURN, View, columns

RUNS = View(
    "runs",
    "a run of a scenario",
    columns(
        ("run", "the run's id", "t.id"),
        ("scenario", "the scenario's name"),
        ("seed", "the run's seed"),
        ("status", "done, interrupted or failed"),
        ("started_at", "when it began, UTC"),
        ("arms", "arms that are stored", "(SELECT count(*) FROM store.arms a WHERE a.run = t.id)"),
        ("wall_s", "seconds that a person waited"),
        ("virtual_s", "seconds of the arms' clocks, together"),
        ("sources", "digest of kvlab's own code", "t.versions->>'$.sources'"),
        ("versions", "versions of packages and the platform, JSON"),
        (
            "command",
            "what was typed",
            "array_to_string(CAST(coalesce(t.asked->'$.argv', '[]') AS VARCHAR[]), ' ')",
        ),
        ("yaml", "the scenario file"),
    ),
    "store.runs t",
)
ARMS = View(
    "arms",
    "an arm of a run, with its verdict once it is judged (NULL until then)",
    columns(
        RUN,
        ("arm", "the arm's name", "t.name"),
        ("place", "its place in the run, from 0", "t.arm"),
        ("scenario", "the run's scenario", "r.scenario"),
        ("seed", "the run's seed", "r.seed"),
        ("started_at", "when the run began, UTC", "r.started_at"),
        ("verdict", "clean, corrupt, inconclusive, wedged, ...", "v.verdict"),
        ("expected", "what the scenario expects", "v.expected"),
        ("reason", "why, where the verdict needs it", "v.reason"),
        ("sessions", "sessions that were owed a reply", "coalesce(v.sessions, t.sessions)"),
        ("sessions_corrupt", "sessions with a corrupt reply", "v.sessions_corrupt"),
        ("rate", "sessions_corrupt / sessions", "v.rate"),
        ("ci95_low", "lower end of the rate's 95 % interval", "v.ci95_low"),
        ("ci95_high", "upper end of it", "v.ci95_high"),
        ("replies_due", "replies that were due", "v.replies_due"),
        ("replies_corrupt", "corrupt ones", "v.replies_corrupt"),
        ("unfinished", "replies that never came whole", "v.unfinished"),
        ("outcomes", "corrupt replies by class, JSON", "v.outcomes"),
        ("sessions_silent", "sessions that show nothing either way", "v.sessions_silent"),
        ("sessions_missed", "sessions that missed what no text is known of", "v.sessions_missed"),
        ("replies_missed", "replies that did", "v.replies_missed"),
        ("missed", "those by class, JSON", "v.missed"),
        ("rules", "the number of the rules of its verdict, 0 for the oldest", "v.rules"),
        ("wall_s", "seconds that a person waited"),
        ("virtual_s", "seconds of the arm's clock"),
        ("stalled", "where it wedged, the clock's message"),
        ("history_digest", "digest of all that happened; equal seeds give equal ones"),
        ("settings", "the effective configuration, JSON"),
    ),
    "store.arms t JOIN store.runs r ON r.id = t.run"
    " LEFT JOIN store.verdicts v ON v.run = t.run AND v.arm = t.arm",
)
SESSIONS = View(
    "sessions",
    "a session of an arm",
    columns(
        RUN,
        ARM,
        SESSION,
        ("replies_due", "replies that were due"),
        ("first_sent_s", "when it sent first, seconds of the arm's clock; NULL: never"),
        ("last_done_s", "when its last reply ended"),
        ("corrupt", "whether a reply of it is corrupt", "f.session IS NOT NULL"),
    ),
    f"store.sessions t {OF_ARM} LEFT JOIN (SELECT DISTINCT run, arm, session FROM store.findings"
    " WHERE outcome = 'fail' AND kind = 'corrupt') f"
    " ON f.run = t.run AND f.arm = t.arm AND f.session = t.session",
)
TURNS = View(
    "turns",
    "a turn of a session: what the right reply is, where that is known",
    columns(
        RUN,
        ARM,
        SESSION,
        TURN,
        ("expected_text", "the whole right reply"),
        ("expected_call", "the right call, JSON"),
    ),
    f"store.turns t {OF_ARM}",
)
BEGAN = "coalesce(t.first_sent_s, t.sent_s)"
REPLIES = View(
    "replies",
    "a reply that was due, whatever became of it",
    columns(
        RUN,
        ARM,
        ("position", "its place in the arm, from 0"),
        SESSION,
        TURN,
        ("due", "whether it counts"),
        ("status", "ok, timeout, transport_error, aborted or not_sent"),
        ("finish_reason", "the server's word: stop, tool_calls, length, ..."),
        ("prompt_tokens", "tokens of the prompt"),
        ("cached_tokens", "of them, found in a cache"),
        ("completion_tokens", "tokens of the reply"),
        ("sent_s", "when it was last asked for, seconds of the arm's clock"),
        ("first_token_s", "when its first token came"),
        ("done_s", "when it ended"),
        ("ttft_s", "seconds from asking to the first token", "t.first_token_s - t.sent_s"),
        ("latency_s", "seconds from asking for the first time to the end", f"t.done_s - {BEGAN}"),
        ("tries", "how often it was asked for"),
        ("request_id", "the server's id of it"),
        ("error", "what the last try failed of"),
        ("raw_text", "the whole text, special tokens spelled out; NULL: not known"),
        ("content", "what the server calls content"),
        ("reasoning", "what it calls reasoning"),
        ("tool_calls", "its tool calls, JSON"),
        ("gaps_ms", "milliseconds between streamed parts: n, mean, p50, p99, max; JSON"),
        ("cached_tiers", "cached tokens by tier, JSON"),
        ("chunks", "of a failed reply, what came, as it was cut; JSON"),
    ),
    f"store.replies t {OF_ARM}",
)
