"""The names that the engine's sources tell as violations or faults, found without running them.

One rule: a name is followed from the call that records it through the functions that pass it on,
to where it is spelt.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tests.structure.sources import SOURCES, Source

RECORDERS = {"violation": 0, "fault": 0}  # methods of the history -> which argument is the name
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Call(NamedTuple):
    """A call in the engine, and the function that makes it."""

    source: Source
    inside: Function
    node: ast.Call


def emitted() -> dict[str, str]:
    """Each name, and a place that spells it."""
    return {name: f"{it.source.path}:{it.node.lineno}" for it, names in told() for name in names}


def unspelt() -> list[str]:
    """Calls that record a name of which nobody can say where it is spelt."""
    return [f"{it.source.path}:{it.node.lineno}" for it, names in told() if not names]


def told() -> list[tuple[Call, list[str]]]:
    """Every call that records a name or passes one on, and the names that it spells; a call that
    hands its own caller's name on is left out.
    """
    passing, known, found = {("", it): at for it, at in RECORDERS.items()}, 0, []
    calls = list(engine_calls())
    while len(passing) > known:
        known, found = len(passing), []
        for call in calls:
            at = passing.get(called(call))
            if at is None or (name := argument(call.node, at)) is None:
                continue
            own = parameters(call.inside)
            if isinstance(name, ast.Name) and name.id in own:
                passing.setdefault(scoped(call.inside.name, call), own.index(name.id))
            else:
                found.append((call, spelt(name, call)))
    return found


def engine_calls() -> Iterator[Call]:
    """Of every function, without those that it encloses."""
    for source in SOURCES:
        if source.path.startswith("engine/"):
            for function in source.functions():
                for node in ast.walk(function):
                    if isinstance(node, ast.Call):
                        yield Call(source, function, node)


def called(call: Call) -> tuple[str, str]:
    """What is called; of the history's own only methods, others have functions of those names."""
    match call.node.func:
        case ast.Attribute(attr=name):
            return scoped(name, call)
        case ast.Name(id=name) if name not in RECORDERS:
            return scoped(name, call)
    return "", ""


def scoped(name: str, call: Call) -> tuple[str, str]:
    """A private function is its module's own: the module, and the name."""
    return (call.source.path if name.startswith("_") else "", name)


def argument(node: ast.Call, at: int) -> ast.expr | None:
    """The argument that is the name, given by place or by keyword."""
    named = [it.value for it in node.keywords if it.arg in ("name", "violation")]
    return node.args[at] if at < len(node.args) else named[0] if named else None


def parameters(function: Function) -> list[str]:
    """What a function is given, without ``self``."""
    return [it.arg for it in function.args.args if it.arg != "self"]


def spelt(name: ast.expr, call: Call) -> list[str]:
    """The constants that an expression can be: its own, or those of what it is made of; failing
    that what its module's functions answer in words, and what stands at the module's top.
    """
    names = {it.id for it in ast.walk(name) if isinstance(it, ast.Name)}
    values = list(assigned(call.inside, names))
    return (
        constants(name)
        or [it for value in values for it in constants(value)]
        or [it for value in answered(call.source) for it in constants(value)]
        or [it for value in assigned(call.source.tree, set(), top=True) for it in constants(value)]
    )


def answered(source: Source) -> Iterator[ast.expr]:
    """What the functions of a module return whose answer is a text."""
    for function in source.functions():
        if function.returns is not None and ast.unparse(function.returns) == "str":
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield node.value


def assigned(tree: ast.AST, names: set[str], *, top: bool = False) -> Iterator[ast.expr]:
    """What is put into one of ``names``, or into anything at the ``top`` of a module."""
    nodes = tree.body if top and isinstance(tree, ast.Module) else ast.walk(tree)
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                into = {it.id for t in targets for it in ast.walk(t) if isinstance(it, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=one), value=ast.expr() as value):
                into = {one}
            case ast.For(target=target, iter=value):
                into = {it.id for it in ast.walk(target) if isinstance(it, ast.Name)}
            case _:
                continue
        if top or into & names:
            yield value


def constants(node: ast.expr) -> list[str]:
    """Texts in an expression that look like a name of several words."""
    texts = [it.value for it in ast.walk(node) if isinstance(it, ast.Constant)]
    return [it for it in texts if isinstance(it, str) and "_" in it and it.isidentifier()]
