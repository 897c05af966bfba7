"""Views of what an arm's engine or server did: events, boots and rooms.

One rule: nothing here was concluded by anybody.
"""

from __future__ import annotations

from lab.exposure import FOREIGN
from lab.store.views.view import ARM, OF_ARM, RUN, View, columns

EVENTS = View(
    "events",
    "something that happened in an arm",
    columns(
        RUN,
        ARM,
        ("position", "its place in the arm, from 0"),
        ("at_s", "when, seconds of the arm's clock", "t.at_ns / 1e9"),
        ("kind", "admit, prefill, decode, end, reply, violation, server, ..."),
        ("fields", "what the kind says, JSON"),
    ),
    f"store.events t {OF_ARM}",
)
BOOTS = View(
    "boots",
    "the server of an arm that was not bundled; arms of one boot share its number",
    columns(
        RUN,
        ARM,
        (
            "boot",
            "number of the boot in its run; 0: kvlab did not start it",
            "CAST(t.fields->>'$.boot' AS INTEGER)",
        ),
        ("url", "where it listened", "t.fields->>'$.url'"),
        ("model", "its model", "t.fields->>'$.model'"),
        ("sessions", "sessions of the arm", "coalesce(v.sessions, a.sessions)"),
        ("sessions_corrupt", "corrupt ones; NULL: not judged", "v.sessions_corrupt"),
    ),
    f"(SELECT * FROM store.events WHERE kind = '{FOREIGN}') t {OF_ARM}"
    " LEFT JOIN store.verdicts v ON v.run = t.run AND v.arm = t.arm",
)
ROOMS = View(
    "rooms",
    "a room of a disaggregated arm: one hand-over from prefill to decode",
    columns(
        RUN,
        ARM,
        ("room", "its number"),
        ("rank", "whose it is; ranks share a room's number"),
        ("request", "the decode side's request"),
        ("prompt_tokens", "tokens of the prompt", "t.prompt"),
        ("outcome", "Success, Failed or open"),
        ("why", "what it failed of"),
        ("chunks", "chunks that arrived"),
        ("moved_bytes", "bytes really moved, by pool, JSON"),
        ("released_s", "when the decode pages of a failed room were given back"),
        ("drained_s", "when its last write landed"),
        ("prefill", "when the prefill side entered each state, JSON"),
        ("decode", "when the decode side did, JSON"),
    ),
    f"store.rooms t {OF_ARM}",
)
