"""Views of bisections, what they asked, and what it cost.

One rule: a trial that no probe was completed with is a trial all the same, and no probe.
"""

from __future__ import annotations

from lab.store.views.view import View, columns

BISECTION = ("bisection", "the bisection's id")
BISECTIONS = View(
    "bisections",
    "a search for the toggle that does it",
    columns(
        ("bisection", "the bisection's id", "t.id"),
        ("scenario", "the scenario's name"),
        ("seed", "its seed"),
        ("method", "how it searched"),
        ("status", "done, interrupted or failed"),
        ("started_at", "when it began, UTC"),
        ("verdict", "CONFIRMED, SUSPECT, ...; NULL until it is done", "t.verdict->>'$.verdict'"),
        ("culprits", "what it names, JSON", "t.verdict->'$.culprits'"),
        ("posterior", "how sure it is", "CAST(t.verdict->>'$.posterior' AS DOUBLE)"),
        ("rate_bad", "rate with everything bad", "CAST(t.verdict->>'$.rate_bad' AS DOUBLE)"),
        ("rate_good", "rate with everything good", "CAST(t.verdict->>'$.rate_good' AS DOUBLE)"),
        ("document", "its whole verdict, JSON", "t.verdict"),
        ("yaml", "the scenario file"),
    ),
    "store.bisections t",
)
PROBES = View(
    "probes",
    "a completed question of a bisection: one configuration, in one or more trials",
    columns(
        BISECTION,
        ("probe", "its number, from 0"),
        ("phase", "reproduce, search, confirm, ..."),
        ("config", "which toggles were bad, and at which levels, JSON"),
        ("trials", "trials of it"),
        ("sessions", "their sessions"),
        ("corrupt", "corrupt ones"),
        ("rate", "corrupt / sessions", "t.corrupt / nullif(t.sessions, 0)"),
        ("wall_s", "seconds that they took, together"),
    ),
    "(SELECT bisection, probe, any_value(phase) AS phase, any_value(config) AS config,"
    " count(*) AS trials, sum(sessions) AS sessions, sum(corrupt) AS corrupt,"
    " sum(wall_s) AS wall_s FROM store.trials WHERE probe IS NOT NULL"
    " GROUP BY bisection, probe) t",
)
TRIALS = View(
    "trials",
    "one run of one configuration in a bisection",
    columns(
        BISECTION,
        ("position", "its place in the bisection, from 0, in the order in which they ended"),
        ("probe", "the probe that it belongs to; NULL: that was not completed"),
        ("phase", "that probe's phase"),
        ("config", "which toggles were bad, and at which levels, JSON"),
        ("trial", "index of its seed"),
        ("seed", "its seed"),
        ("sessions", "its sessions"),
        ("corrupt", "corrupt ones"),
        ("verdict", "its verdict"),
        ("unknown", "why nothing can be said, where that is so"),
        ("violations", "broken invariants by name, JSON"),
        ("exposure", "counters, JSON"),
        ("history_digest", "digest of all that happened", "t.digest"),
        ("wall_s", "seconds that it took"),
    ),
    "store.trials t",
)
