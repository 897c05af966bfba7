"""Views of what was found in a run's arms, and of what they went through.

One rule: a violation or an exposure counter is a row, so that it is counted without taking JSON
apart.
"""

from __future__ import annotations

from lab.exposure import FAULT, VIOLATION
from lab.store.views.view import ARM, OF_ARM, RUN, SESSION, TURN, View, columns

FINDINGS = View(
    "findings",
    "one detector's word on one reply",
    columns(
        RUN,
        ARM,
        SESSION,
        TURN,
        ("detector", "its name: leaked_markup, wrong_value, loop, ..."),
        ("outcome", "fail, unknown or pass"),
        ("kind", "corrupt, parser_fault, unfinished or nondeterministic"),
        ("detail", "what it saw"),
    ),
    f"store.findings t {OF_ARM}",
)
VIOLATIONS = View(
    "violations",
    "a broken invariant, or a fault that destroyed no row, that the engine of an arm was seen with",
    columns(
        RUN,
        ARM,
        ("name", "its name", "split_part(t.name, ':', 2)"),
        ("kind", "violation or fault", "split_part(t.name, ':', 1)"),
        ("n", "how often", "t.value"),
    ),
    f"(SELECT * FROM store.counters WHERE value > 0 AND (name LIKE '{VIOLATION}%'"
    f" OR name LIKE '{FAULT}%')) t {OF_ARM}",
)
EXPOSURE = View(
    "exposure",
    "a counter of how far an arm went: a path never taken proves nothing",
    columns(
        RUN, ARM, ("name", "padded_rows, host_hits, ..."), ("value", "what it counted", "t.value")
    ),
    f"(SELECT * FROM store.counters WHERE name NOT LIKE '%:%') t {OF_ARM}",
)
COMPARISONS = View(
    "comparisons",
    "two arms of a run set side by side",
    columns(
        RUN,
        ("a", "the first arm's name"),
        ("b", "the second's"),
        ("test", "the test"),
        ("p_value", "its p, not corrected for the others"),
        ("difference_low", "lower end of the 95 % interval of rate a - rate b"),
        ("difference_high", "upper end of it"),
        ("p_value_missed", "the p where missed sessions count as well; NULL: none missed"),
    ),
    "store.comparisons t",
)
