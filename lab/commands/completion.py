"""What a shell is offered at a key. One rule: quick, silent and never wrong: nothing is parsed."""

from __future__ import annotations


def scenarios(incomplete: str) -> list[str]:
    """The bare names of the scenarios that begin so."""
    from lab.scenario.loader import SCENARIOS, SHIPPED, listed

    names = {path.stem for root in (SHIPPED, SCENARIOS) if root.is_dir() for path in listed(root)}
    return sorted(name for name in names if name.startswith(incomplete))


def targets(incomplete: str) -> list[str]:
    """The bundled engine and the launch profiles."""
    from lab.profiles import known
    from lab.targets.spec import BUNDLED

    return [name for name in (BUNDLED, *known()) if name.startswith(incomplete)]


def workloads(incomplete: str) -> list[str]:
    """The kinds of load."""
    from lab.workloads import WORKLOADS

    return [kind for kind in WORKLOADS.all() if kind.startswith(incomplete)]


def defects(incomplete: str) -> list[str]:
    """The known faults of the bundled engine."""
    from engine.defects import catalog

    return [name for name in sorted(catalog()) if name.startswith(incomplete)]


def methods(incomplete: str) -> list[str]:
    """The ways to search."""
    from lab.bisect.methods import METHODS

    return [name for name in METHODS.all() if name.startswith(incomplete)]
