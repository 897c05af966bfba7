"""Which question of the engine a broken invariant points at. One rule: from evidence alone.

What a build contains is never asked: the table goes by the violation's name, by the kinds of the
operations in it, and by what the arm says of its pools and copies. What a question is, and how
healthy code answers it, is read off ``engine.seams``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_type_hints

from engine.seams import Seams
from lab.copies import BY_TOKEN, copy_paths, stored_geometry
from lab.explaining.damage import HOST, ITSELF

if TYPE_CHECKING:
    from lab.explaining.damage import Damage
    from lab.records import ArmHistory

PADDING = ("dead_rows", "index_k_store")
BY_OPERATION = (
    *("read_foreign_row", "read_changed_bytes", "read_uninitialised_row", "read_torn_layers"),
    *("read_after_free", "read_stale_generation", "write_by_non_owner", "two_writers_in_flight"),
    "unordered_access",
)
READS = tuple(name for name in BY_OPERATION if name.startswith("read_"))


@dataclass(frozen=True)
class Rule:
    """Violations, and the seams that they point at: several where they cannot tell which.

    ``party`` must be the kind of an operation in it, its pool must be another on ``tier``, or have
    been copied by token (``cut``), and the event be of the host's pages (``on``); empty asks
    nothing. A ``vague`` rule yields to one that is not.
    """

    names: tuple[str, ...]
    seams: tuple[str, ...]
    party: str = ""
    tier: str = ""
    cut: bool = False
    on: str = ""
    vague: bool = False


# The first that holds is taken.
RULES: tuple[Rule, ...] = (
    Rule(("padded_row_wrote_owned_slot",), PADDING),
    Rule(("row_shared_by_two_slots",), ("index_k_buffer",)),
    Rule(("read_of_unwritten_row",), ("prefix_publication",)),
    Rule(("page_changed_between_match_and_read",), ("prefix_pin",)),
    Rule(("read_before_load", "read_during_load", "loading_event_reused"), ("read_gate",)),
    Rule(("page_changed_under_backup",), ("backup_start",)),
    Rule(("host_page_changed_under_load",), ("host_reuse",)),
    Rule(("host_hit_on_unwritten_page",), ("backup_refusal",)),
    Rule(("load_wrote_page_in_use",), ("load_target",)),
    Rule(("late_write_into_owned_page",), ("room_fence",)),
    Rule(("token_of_another_row",), ("row_owner",)),
    Rule(("logits_outside_their_row",), ("logits_offset",)),
    Rule(("first_token_of_another_room",), ("metadata_check", "metadata_take")),
    Rule(("bootstrap_loop_died",), ("bootstrap_message",)),
    Rule(("room_failed_though_complete",), ("receiver_poll",)),
    Rule(("metadata_false_alarm",), ("metadata_take",)),
    Rule(("ranks_ran_different_batches",), ("poll_agreement",)),
    Rule(("restored_page_differs",), ("host_layout",), tier="host"),
    Rule(("restored_page_differs",), ("token_transfer", "transfer_pieces"), cut=True),
    Rule(("restored_page_differs",), ("host_layout", "host_reuse", "token_transfer"), vague=True),
    Rule(("room_bytes_differ",), ("peer_layout",), tier="decode"),
    Rule(("room_bytes_differ",), ("room_fence", "peer_layout"), vague=True),
    Rule(("read_foreign_row",), ("index_k_buffer",), party=ITSELF),
    Rule(BY_OPERATION, PADDING, party="padding"),
    Rule(BY_OPERATION, ("peer_layout",), party="transfer", tier="decode"),
    Rule(BY_OPERATION, ("room_fence",), party="transfer"),
    Rule(("unordered_access",), ("host_reuse",), party="load", on=HOST),
    Rule(("unordered_access",), ("backup_start",), party="backup"),
    Rule(READS, ("host_layout",), party="load", tier="host"),
    Rule(READS, ("token_transfer", "transfer_pieces"), party="load", cut=True),
    Rule(READS, ("backup_start", "host_reuse", "backup_refusal"), party="load", vague=True),
    Rule(BY_OPERATION, ("load_target",), party="load"),
    Rule(("read_uninitialised_row",), ("prefix_publication",), vague=True),
    Rule(("read_torn_layers",), ("read_gate", "prefix_publication"), vague=True),
    Rule(("read_stale_generation", "read_after_free"), ("prefix_pin", "page_reuse"), vague=True),
    Rule(BY_OPERATION, ("page_reuse", "index_k_buffer"), vague=True),
)

# What had to hold, or to come first, for the read to be of the right row.
EDGES: Mapping[str, str] = {
    "index_k_buffer": "every slot's bytes must be its own: here a write of one is a write of "
    "another",
    "index_k_store": "a row that is not live must not be stored",
    "dead_rows": "a row that must not write has to carry the reserved slot before the step writes; "
    "no wait between operations would help",
    "logits_offset": "a row's logits must be written where the row reads them, however large row "
    "times width is; no wait between operations would help",
    "prefill_combiner": "parts of an attention must be merged by the weight of their keys; no wait "
    "between operations would help",
    "prefix_publication": "the step that writes a prefix must have run before another request's "
    "step reads it",
    "page_reuse": "the last step that uses an ended request's pages must have run before they are "
    "handed out again",
    "row_owner": "whose a token is must be settled when its step is scheduled, before rows move up",
    "prefix_pin": "a matched prefix must be pinned before anything is evicted for the pages beside "
    "it",
    "read_gate": "a load's copy of a layer must have landed before a step reads the layer",
    "token_transfer": "a copy by token must move the bytes that the pool's own layout gives a "
    "token; no wait between operations would help",
    "host_layout": "a page row of the host must have the bytes of the device's; no wait between "
    "operations would help",
    "transfer_pieces": "a transfer must move whole pages",
    "backup_start": "the step that writes a page must have run before its backup reads it",
    "load_target": "whoever uses a device page must be through before a load writes it",
    "host_reuse": "a load out of a host page must be acknowledged before the page is given on",
    "backup_refusal": "a page must be on the host before the device forgets it as restorable",
    "peer_layout": "both sides' layouts must be found equal before one addresses the other's pages",
    "bootstrap_message": "every message of the protocol must be read by the loop that gets it",
    "receiver_poll": "what has arrived must be counted before the deadline is looked at",
    "room_fence": "a room's posted writes must have landed, or be revoked, before its pages are "
    "given back",
    "metadata_take": "a metadata slot must be cleared before the next room takes it",
    "metadata_check": "a metadata slot's tag must be compared before its first token is taken",
    "poll_agreement": "all ranks must have agreed on their polls before one branches on its own",
}


@dataclass(frozen=True)
class Facts:
    """What an arm says of its pools: those unlike the device's by tier, those copied by token."""

    unlike: frozenset[tuple[str, str]] = frozenset()
    cut: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Question:
    """A seam: what it asks, the healthy answer, where that is, and the edge that it keeps."""

    seam: str
    asks: str
    edge: str
    healthy: str
    answers: str


def facts_of(history: ArmHistory) -> Facts:
    """Read off the geometry that the server stated and the copies that ran."""
    rows = [row for row in stored_geometry(history) if not row.get("agrees", True)]
    paths = copy_paths(history.counters)
    return Facts(
        frozenset((str(row.get("tier")), str(row.get("pool"))) for row in rows),
        frozenset(path.pool for path in paths if path.branch == BY_TOKEN and path.calls),
    )


def rule_of(links: Sequence[Damage], facts: Facts) -> Rule | None:
    """The rule that damage points at, the root of the chain last: of the root first, and one that
    can tell before one that cannot.
    """
    found = [
        rule
        for link in reversed(links)
        if (rule := next((rule for rule in RULES if _holds(rule, link, facts)), None))
    ]
    return next((rule for rule in found if not rule.vague), found[0] if found else None)


def question(seam: str) -> Question:
    """What is known of a seam."""
    asked = get_type_hints(Seams)[seam].__args__[0]
    healthy = getattr(Seams(), seam)
    asks = _first(asked).removeprefix(f"Seam ``{seam}``: ")
    where = f"{healthy.__module__}.{healthy.__name__}"
    return Question(seam, asks[:1].upper() + asks[1:], EDGES[seam], where, _first(healthy))


def _holds(rule: Rule, link: Damage, facts: Facts) -> bool:
    pool = link.text("pool")
    return (
        link.name in rule.names
        and rule.party in ("", *link.parties)
        and (not rule.tier or _unlike(rule.tier, pool, facts))
        and (not rule.cut or pool in facts.cut)
        and rule.on in ("", link.text("tier"))
    )


def _unlike(tier: str, pool: str, facts: Facts) -> bool:
    """Whether the pool is another on that tier; of damage that names no pool, whether any is."""
    return any(where == tier and pool in ("", unlike) for where, unlike in facts.unlike)


def _first(documented: type) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
