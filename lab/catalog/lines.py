"""An entry of the table as labelled lines. One rule: terminal, page and markdown say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.catalog.incidents import Incident
    from lab.catalog.names import Name

BRIEF = (
    "trigger",
    "tried with",
    "cleared by",
    "named by",
    "also in",
)  # what stands in a list of all
EFFECT = (
    "any incident that leaves a wrong row, as its effect: `kvlab explain` goes back to the cause"
)
NOTHING = "nothing to clear: no arm of its file shows it"
TITLES = {
    "corrupting": "Corrupting: wrong bytes reach a reader",
    "liveness": "Liveness: requests fail or nothing gets on, and no byte is wrong",
    "amplifier": "Amplifiers: make another one likelier, and corrupt nothing themselves",
    "latent": "Latent: reached only by a strategy or a size that is not in use",
    "dormant": "Dormant: real, and no configuration on offer reaches it",
    "falsified": "Falsified: suspected, and cleared",
}


def lines(it: Incident) -> dict[str, str]:
    """All that is known of an incident, label by label; the mechanism is left to the title."""
    cleared = "; ".join(change.words for change in it.cleared_by)
    told = {
        "trigger" if it.seams else "tried with": it.trigger,
        "symptom": it.symptom,
        "shown by": quoted(it.shown_by),
        "concludes": ", ".join(it.verdicts),
        "cleared by": cleared or (NOTHING if it.seams and it.scenario else ""),
        "not cleared by": "; ".join(change.words for change in it.not_cleared_by),
        "named by": ", ".join(it.evidence),
        "origin": it.reported or it.origin,
        "fix": it.fix,
        "healthy class": it.guarantees,
        "seams": ", ".join(it.seams),
        "scenario": it.scenario,
        "also in": ", ".join(it.also_in),
    }
    return {label: text for label, text in told.items() if text}


def shortly(it: Incident) -> str:
    """The origin in few words: an issue's number only where what is known begins with it."""
    related = "#" in it.origin and not it.reported.startswith(it.origin)
    return it.reported if it.reported and related else it.origin


def brief(it: Incident) -> dict[str, str]:
    """What a list of all has room for."""
    return {label: text for label, text in lines(it).items() if label in BRIEF}


def watchers(it: Name) -> str:
    """The modules that watch for a name; a dash where none does."""
    return ", ".join(it.watched_by) or "–"


def ties(it: Name) -> str:
    """The incidents that a name stands for; empty where it stands for none."""
    named = ", ".join(it.incidents)
    return "; ".join(part for part in (named, EFFECT if it.effect else "") if part)


def quoted(names: tuple[str, ...]) -> str:
    """Arms' names, which have commas of their own."""
    return ", ".join(f'"{name}"' for name in names)
