"""Files and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast

from tests.structure.sources import SOURCES, TESTS, is_kernel, size

FILE, FUNCTION, COMMAND, KERNEL, REGISTRY = 300, 50, 20, 60, 40


def test_a_file_has_at_most_300_lines() -> None:
    assert {s.path: s.lines for s in (*SOURCES, *TESTS) if s.lines > FILE} == {}


def test_a_function_has_at_most_50_lines_and_a_kernel_60() -> None:
    long = {
        f"{source.path}:{function.lineno} {function.name}": size(function)
        for source in SOURCES
        for function in source.functions()
        if size(function) > (KERNEL if is_kernel(function) else FUNCTION)
    }
    assert long == {}


def test_a_kernel_is_known_by_its_decorator_as_the_kernels_write_it() -> None:
    named = [f for s in SOURCES for f in s.functions() if f.name.endswith("_kernel")]
    assert named
    assert [f.name for f in named if not is_kernel(f)] == []


def test_a_command_s_body_has_at_most_20_lines() -> None:
    long = {
        f"{source.path} {function.name}": body_lines(function)
        for source in SOURCES
        if source.path.startswith("lab/commands/")
        for function in source.functions()
        if body_lines(function) > COMMAND
    }
    assert long == {}


def test_the_registry_has_at_most_40_lines() -> None:
    (registry,) = [source for source in SOURCES if source.path == "lab/registry.py"]
    assert registry.lines <= REGISTRY


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a command's body, without its docstring."""
    body = function.body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
