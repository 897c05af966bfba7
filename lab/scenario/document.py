"""A YAML document that remembers its lines. One rule: every value can say where it was written.

A value comes either from the file or from an option (``--set``, ``--seed``, ``--sessions``) that
patched it; `where` names the one to blame.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from lab.errors import ScenarioError
from lab.scenario.problem import Path as Keys
from lab.scenario.problem import Problem, spell

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Patch:
    """A value that an option puts in place; ``option`` is what the user typed."""

    keys: Keys
    value: Any
    option: str


class Document:
    """One parsed file: ``tree`` in ruamel's commented nodes, ``file`` as errors name it.

    ``what`` is the kind of document that the file ought to be.
    """

    def __init__(
        self, text: str, file: str, patches: Sequence[Patch] = (), what: str = "a scenario"
    ) -> None:
        self.file, self.patches = file, tuple(patches)
        self.tree = parse(text, file, what)
        for patch in patches:
            apply(self.tree, patch)

    def plain(self) -> dict[str, Any]:
        """The tree as dicts, lists and scalars of Python's own types."""
        return {str(key): plain(value) for key, value in self.tree.items()}

    def source(self) -> str:
        """The document as YAML again, patches included: what a run stores."""
        out = io.StringIO()
        yaml().dump(self.tree, out)
        return out.getvalue()

    def where(self, path: Keys) -> str:
        """`file:line` of the deepest node on ``path``, or the option that wrote it."""
        return self.option(path) or f"{self.file}:{self._line(path)}"

    def option(self, path: Keys) -> str | None:
        """The option that wrote what is at ``path``; None where the file did."""
        for patch in reversed(self.patches):
            if path[: len(patch.keys)] == patch.keys:
                return patch.option
        return None

    def blamed(self, problem: Problem) -> Problem:
        """The same at the first of its places that an option wrote; as it is where none did."""
        places = (problem.path, *problem.others)
        path = next((place for place in places if self.option(place)), problem.path)
        return replace(problem, path=path)

    def _line(self, path: Keys) -> int:
        node: Any = self.tree
        line = 0
        for step in path:
            places = getattr(node, "lc", None)  # a scalar has none
            placed = places.data.get(step) if places is not None and places.data else None
            line = placed[0] if placed else line
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                break
        return line + 1


def yaml() -> YAML:
    """A reader and writer that keeps comments, quotes and the length of lines."""
    made = YAML()
    made.preserve_quotes, made.width = True, 4096
    return made


def parse(text: str, file: str, what: str = "a scenario") -> CommentedMap:
    """The document's root mapping; raises `ScenarioError` with the line of what is not YAML."""
    try:
        tree = yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = " ".join(str(error.problem or error.context or "cannot be read").split())
        raise ScenarioError(f"{file}:{mark.line + 1 if mark else 1}: not YAML: {why}") from None
    except (YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:200]
        raise ScenarioError(f"{file}:1: not YAML: {why}") from None
    if not isinstance(tree, CommentedMap):
        held = "nothing" if tree is None else spell(plain(tree))
        raise ScenarioError(f"{file}:1: {what} is a mapping of keys; this file holds {held}")
    return tree


def plain(node: Any) -> Any:
    """A node of ruamel's as Python's own types; a tagged value becomes its text."""
    if isinstance(node, dict):
        return {str(key): plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain(item) for item in node]
    if node is None or isinstance(node, bool):
        return node
    for kind in (int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return str(node)


def apply(tree: CommentedMap, patch: Patch) -> None:
    """Put the patch's value in place, making the mappings on the way that are missing."""
    node: Any = tree
    for depth, step in enumerate(patch.keys[:-1]):
        taken = patch.keys[: depth + 1]
        if isinstance(node, list):
            node = node[_index(node, step, taken, patch)]
        else:
            node = node.setdefault(step, CommentedMap())
        if not isinstance(node, dict | list):
            raise Problem(taken, f"{spell(node)} holds no keys").error(patch.option)
    last = patch.keys[-1]
    node[_index(node, last, patch.keys, patch) if isinstance(node, list) else last] = patch.value


def _index(node: list[Any], step: str | int, taken: Keys, patch: Patch) -> int:
    if isinstance(step, int) and 0 <= step < len(node):
        return step
    accepted = f"a position from 0 to {len(node) - 1}"
    raise Problem(taken, f"{step!r} is no position in this list", accepted).error(patch.option)


def read(path: Path) -> str:
    """The text of a file; raises `ScenarioError` in one line whatever is wrong with it."""
    try:
        return path.read_text(encoding="utf-8")
    except IsADirectoryError:
        raise ScenarioError(f"{path}: is a directory; name one scenario file in it") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror or error}") from None
