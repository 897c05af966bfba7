"""An audit asks every check of what runs here, and goes on where one raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from kernels import jit
from kernels.audit.check import Check, Found, NotRun, Setting
from lab.auditing import perform
from lab.auditing.tables import summary
from lab.errors import UserError


def silent(done: int, due: int) -> None:
    """A bar that nobody watches."""


def fake(name: str, run: Callable[[Setting], Found], kernel: str = "copy", **how: Any) -> Check:
    return Check(kernel, name, run, **how)


def found(number: float) -> Callable[[Setting], Found]:
    return lambda s: Found(f"seed {s.seed}", {"error": number}, {"error": 1.0}, "because")


def raising(s: Setting) -> Found:
    raise ValueError("two lines\nof text")


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    made = [
        fake("sound", found(0.5)),
        fake("raises", raising),
        fake("wrong", found(2.0), part="addressing"),
        fake("only compiled", found(0.0), only=("triton compiled",)),
    ]
    monkeypatch.setattr(perform, "all_checks", lambda: made)
    monkeypatch.setattr(perform, "overlaps", lambda s: iter(()))
    monkeypatch.setattr(jit, "INTERPRETED", False)
    return made


def test_a_document_holds_every_line_and_where_it_was_made(checks: list[Check]) -> None:
    document = perform.audit("cpu", "", 7, silent)
    assert (document["device"], document["implementation"]) == ("cpu", "reference")
    assert document["seed"] == 7 and document["versions"]["torch"] == torch.__version__
    sound, raised = document["checks"]
    assert sound == {
        "kernel": "copy",
        "check": "sound",
        "implementation": "reference",
        "inputs": "seed 7",
        "measured": {"error": 0.5},
        "bound": {"error": 1.0},
        "why": "because",
        "ok": True,
    }
    assert (raised["ok"], raised["error"]) == (False, "ValueError: two lines ... of text")
    assert [line["check"] for line in document["addressing"]] == ["wrong"]
    assert [line["check"] for line in perform.failed(document)] == ["raises", "wrong"]


def test_a_check_that_needs_more_than_there_is_has_neither_passed_nor_failed(
    checks: list[Check],
) -> None:
    def too_large(s: Setting) -> Found:
        raise NotRun("needs 44 GiB of free device memory")

    checks[:] = [fake("far", too_large), fake("sound", found(0.5))]
    document = perform.audit("cpu", "", 0, silent)
    far = document["checks"][0]
    assert (far["ok"], far["inputs"]) == (None, "not run: needs 44 GiB of free device memory")
    assert perform.failed(document) == []
    assert [*summary(document)] == [
        "copy: far (reference) not run: needs 44 GiB of free device memory",
        "1 of 1 checks passed: reference",
    ]


def test_only_chooses_by_kernel_and_name(checks: list[Check]) -> None:
    assert [each.name for each in perform.chosen("copy: s")] == ["sound"]
    document = perform.audit("cpu", "wro", 0, silent)
    assert document["checks"] == [] and len(document["addressing"]) == 1


def test_a_name_that_no_check_has_is_one_line_of_what_there_is(checks: list[Check]) -> None:
    with pytest.raises(UserError, match="no check has 'pge' in its name; kernels: copy"):
        perform.audit("cpu", "pge", 0, silent)


def test_kernels_are_audited_too_where_they_are_interpreted(
    checks: list[Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "INTERPRETED", True)
    lines = perform.audit("cpu", "sound", 0, silent)["checks"]
    assert [line["implementation"] for line in lines] == ["reference", "triton interpreted"]


def test_cuda_needs_a_device_and_kernels_that_are_compiled(
    checks: list[Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match="no CUDA device here"):
        perform.settings("cuda", 0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(jit, "INTERPRETED", True)
    with pytest.raises(UserError, match="TRITON_INTERPRET is set"):
        perform.settings("cuda", 0)
