"""The violations and faults that an engine can tell of: what each means, and who watches for it.

One rule: what a name means is said by the module that watches for it, in the list of its docstring;
and here where several do, or where watching is not what the module is about.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import engine
from lab.catalog.docs import items, sentence
from lab.exposure import FAULT, FAULTS, VIOLATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lab.catalog.incidents import Incident

ENGINE = Path(engine.__file__).parent
EFFECTS: Mapping[str, str] = {  # what the shadow memory sees of a wrong row, whatever made it
    "read_uninitialised_row": "a step read a row that nobody had written since its page was "
    "handed out",
    "read_after_free": "a step read a row of a page that had been given back",
    "read_foreign_row": "a step read a row that was last written for somebody else",
    "read_stale_generation": "a step read a page that was handed out anew since its reader was "
    "given it",
    "read_torn_layers": "a step read a row whose layers are of different writes",
    "read_during_load": "a step read a row while a load from the host was still bringing it",
    "read_changed_bytes": "a step read a row whose bytes are not those that its last writer left; "
    "seen at level full",
    "write_by_non_owner": "an operation wrote a row of a page that is not its request's",
    "two_writers_in_flight": "a row was written while another write to it was under way",
    "unordered_access": "two operations touched a page, and nothing says which comes first",
}
MEANING: Mapping[str, str] = {
    **EFFECTS,
    # of steps and their rows
    "read_before_load": "a step read a layer of a restored page before its copy had landed",
    "loading_event_reused": "a load was given the layer events of one that had not ended",
    "token_of_another_row": "a token was given to another request than the one that computed it, "
    "or a row read one that its request does not end with",
    "hot_entry_differs": "an entry that HiSparse fetched from the host is not the device pool's",
    "page_books_broken": "at rest, free, cached and owned pages are not all the pool's pages",
    "first_token_of_another_room": "a room took the first token that its metadata slot held, which "
    "another room had left there",
    # faults
    "bootstrap_loop_died": "the loop that tells the prefill of rooms ended with an exception: no "
    "later room gets past Bootstrapping",
    "metadata_false_alarm": "a room failed for the tag that its metadata slot had left of another "
    "room, before its own first token had arrived",
    "no_progress": "something waits, and for as long as the watchdog allows nothing has got on",
    "ranks_ran_different_batches": "the ranks of a side reduced rows of different requests into "
    "each other",
    "room_failed_though_complete": "a room failed of its deadline when all its bytes had arrived",
}


@dataclass(frozen=True)
class Name:
    """A violation or a fault; ``incidents`` are those that it names, ``effect`` says that any other
    that leaves a wrong row may be seen by it, too.
    """

    name: str
    kind: str
    meaning: str
    watched_by: tuple[str, ...]
    incidents: tuple[str, ...]
    effect: bool = False


def names(known: Iterable[Incident]) -> list[Name]:
    """Violations, then faults, in the order of the alphabet."""
    texts = _sources()
    said = {name: it for text in texts.values() for name, it in _listed(text).items()}
    meaning = said | {name: sentence(text) for name, text in MEANING.items()}
    named = _named(known)
    found = [
        Name(
            name,
            kind(name),
            meaning.get(name, ""),
            _watching(name, texts),
            named.get(name, ()),
            name in EFFECTS,
        )
        for name in {**meaning, **dict.fromkeys(FAULTS), **named}
    ]
    return sorted(found, key=lambda it: (it.kind == "fault", it.name))


def kind(name: str) -> str:
    """A violation destroys a row, a fault does not."""
    return "fault" if name in FAULTS else "violation"


def _named(known: Iterable[Incident]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for incident in known:
        for name in incident.evidence:
            found[name] = (*found.get(name, ()), incident.name)
    return found


def _sources() -> dict[str, str]:
    """The engine's modules by dotted name, without its defects."""
    paths = sorted(path for path in ENGINE.rglob("*.py") if path.parent.name != "defects")
    return {_module(path): path.read_text(encoding="utf-8") for path in paths}


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ENGINE.parent).with_suffix("").parts)


def _listed(text: str) -> dict[str, str]:
    """The names that a module watches for and lists in its docstring, and what they mean."""
    if "\n- ``" not in text:
        return {}
    listed = items(ast.get_docstring(ast.parse(text)) or "")
    return {name: meaning for name, meaning in listed.items() if _spells(text, name)}


def _watching(name: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The modules whose code spells the name."""
    return tuple(module for module, text in texts.items() if _spells(text, name))


def _spells(text: str, name: str) -> bool:
    return any(f'"{before}{name}"' in text for before in ("", VIOLATION, FAULT))
