"""The project's own sources, parsed once for the structure tests."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("kernels", "engine", "lab")


@dataclass(frozen=True)
class Source:
    """One module: its path from the root, its text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Lines of the file."""
        return self.text.count("\n")

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method of the module."""
        nodes = ast.walk(self.tree)
        return [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]

    def imports(self) -> set[str]:
        """The dotted names of the modules that are imported, anywhere in the file."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return found

    def names(self) -> set[str]:
        """Every identifier and attribute that the code mentions; no text, no comments."""
        nodes = list(ast.walk(self.tree))
        plain = {node.id for node in nodes if isinstance(node, ast.Name)}
        return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def load(*folders: str) -> list[Source]:
    """The sources under the given folders of the repository, in order."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return [
        Source(path.relative_to(ROOT).as_posix(), text, ast.parse(text))
        for path in paths
        for text in [path.read_text(encoding="utf-8")]
    ]


SOURCES = load(*PACKAGES)
TESTS = load("tests")


def size(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its decorators and its docstring."""
    first = function.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    skipped = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - skipped


def is_kernel(node: ast.AST) -> bool:
    """Whether Triton compiles the function: ``@jit``, ``@triton.jit``, or a call of either."""
    decorators = getattr(node, "decorator_list", [])
    plain = [d.func if isinstance(d, ast.Call) else d for d in decorators]
    return any(ast.unparse(d) in ("jit", "triton.jit") for d in plain)
