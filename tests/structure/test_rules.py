"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from tests.structure.sources import PACKAGES, ROOT, SOURCES, Source, is_kernel

LAYOUT = "kernels/layout.py"
CLOCK = "engine/clock.py"
WORKERS = ["lab/bisecting/workers.py", "lab/kernel_bench/apart.py"]
KEYS = "lab/targets/keys.py"
LAUNCHER = "lab/launching/process.py"
DEFECTS = ("engine/defects/", "kernels/defects/")


def where(rule_broken: Callable[[Source], object]) -> list[str]:
    """The modules of the three packages in which a rule is broken."""
    return [source.path for source in SOURCES if rule_broken(source)]


def test_a_module_says_what_it_is() -> None:
    assert where(lambda source: not ast.get_docstring(source.tree)) == []


def test_whatever_is_public_has_a_docstring() -> None:
    missing = [
        f"{source.path}:{node.lineno} {node.name}"
        for source in SOURCES
        for node in source.tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and not is_kernel(node)
        and not ast.get_docstring(node)
    ]
    assert missing == []


def test_only_the_layout_knows_the_size_of_an_item() -> None:
    knowing = where(lambda source: source.names() & {"itemsize", "element_size"})
    assert [path for path in knowing if path != LAYOUT] == []


def test_only_the_clock_reads_the_time() -> None:
    assert where(lambda source: "time" in source.imports()) == [CLOCK]


def test_there_are_no_threads_and_no_executors_but_for_trials_and_kernels() -> None:
    """Each worker process of a bisection has a virtual clock of its own; a kernel that crashes its
    process leaves the measuring one alone.
    """
    modules = {"threading", "concurrent.futures", "multiprocessing"}
    assert where(lambda source: source.imports() & modules) == WORKERS
    assert where(lambda source: source.names() & {"run_in_executor", "to_thread"}) == []


def test_only_the_launcher_of_real_servers_starts_programs() -> None:
    """It ends whatever it started, with the whole of its process group."""
    assert where(lambda source: "subprocess" in source.imports()) == [LAUNCHER]


def test_nothing_reads_the_environment_but_for_a_server_s_key() -> None:
    """A key is named by its variable so that no file, no record and no command line holds it."""
    assert where(lambda source: source.names() & {"environ", "getenv"}) == [KEYS]


def test_random_numbers_come_from_a_seeded_generator() -> None:
    """``random.Random(seed)`` or ``from random import Random``, and nothing else of the module."""
    assert where(lambda source: unseeded(source) - {"Random"}) == []


def test_no_set_is_iterated() -> None:
    """A set's order is not the program's: sort it first."""
    loops = [
        f"{source.path}:{loop.lineno}"
        for source in SOURCES
        for node in ast.walk(source.tree)
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)
        for loop in [node.iter]
        if is_set(loop)
    ]
    assert loops == []


def test_healthy_code_does_not_ask_for_a_defect() -> None:
    asked = [
        f"{source.path}:{node.lineno}"
        for source in SOURCES
        if source.path.startswith(("engine/", "kernels/")) and not source.path.startswith(DEFECTS)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.If | ast.IfExp) and "defect" in ast.unparse(node.test).lower()
    ]
    assert asked == []


def test_only_the_assembly_of_the_engine_and_its_shapes_ask_for_defects() -> None:
    asking = where(lambda source: "engine.defects" in source.imports())
    inside = [path for path in asking if path.startswith(("engine/", "kernels/"))]
    healthy = [path for path in inside if not path.startswith(DEFECTS)]
    assert healthy == ["engine/assembly.py", "engine/shapes.py"]


def test_no_work_is_left_as_a_note() -> None:
    assert where(lambda source: "TODO" in source.text or "FIXME" in source.text) == []


def test_every_folder_of_modules_is_a_package() -> None:
    folders = sorted({Path(source.path).parent.as_posix() for source in SOURCES})
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").exists()] == []


def test_the_packages_are_these_three() -> None:
    named = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
    assert named == sorted(PACKAGES)


def is_set(node: ast.expr) -> bool:
    """Whether the expression is plainly a set."""
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("set", "frozenset")


def unseeded(source: Source) -> set[str]:
    """What a module uses of the standard module `random`."""
    imported = source.imports()
    taken = {name.removeprefix("random.") for name in imported if name.startswith("random.")}
    if "random" not in imported or taken:
        return taken
    return {
        node.attr
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "random"
    }
