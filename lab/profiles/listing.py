"""The shipped profiles as tables. One rule: the README beside them holds these, word for word.

    python -c "from lab.profiles.listing import write; write()"

writes them anew between the file's two marks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.profiles.loader import SHIPPED, load_profile
from lab.profiles.toggles import spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.profiles.models import Profile
    from lab.toggles.registry import Toggle

README = SHIPPED / "README.md"
BEGIN, END = "<!-- profiles: begin -->", "<!-- profiles: end -->"


def markdown() -> str:
    """The table of the shipped profiles, then one of each profile's toggles."""
    found = [load_profile(path) for path in sorted(SHIPPED.glob("*.yaml"))]
    rows = [_row(profile) for profile in found]
    tables = [_table(("profile", "nodes", "parameters", "status"), rows)]
    for profile in found:
        tables.append(f"### {profile.name}\n\n{_capital(profile.about)}.\n")
        tables.append(_toggles(profile))
    return "\n".join(tables)


def write() -> None:
    """Put the tables between the marks of the README."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}", encoding="utf-8")


def _row(profile: Profile) -> tuple[str, ...]:
    params = [f"**{name}**" if value is None else name for name, value in profile.params.items()]
    nodes = [node.name for node in profile.nodes]
    return f"`{profile.name}`", ", ".join(nodes), ", ".join(params), profile.status


def _toggles(profile: Profile) -> str:
    if profile.engine is not None:
        return (
            "Every toggle of the bundled engine but the load's own: `kvlab scenario schema` has "
            "them. All are read back.\n"
        )
    rows = [_toggle(profile, key, toggle) for key, toggle in profile.toggles.items()]
    return _table(("toggle", "values", "default", "option", "read back from"), rows)


def _toggle(profile: Profile, key: str, toggle: Toggle) -> tuple[str, ...]:
    how, nodes = profile.readback.get(key), profile.options[key].nodes
    default = "the server's" if toggle.default is None else spell(toggle.default)
    at = f" ({', '.join(nodes)})" if nodes else ""
    source = f"{how.node} `{how.source}`".strip() if how else ""
    return f"`{key}`", toggle.domain.words, default, f"`{toggle.flag}`{at}", source


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(_cells(line))} |\n" for line in lines)


def _cells(line: tuple[str, ...]) -> Iterator[str]:
    yield from (cell.replace("|", "\\|") for cell in line)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].isalpha() else text
