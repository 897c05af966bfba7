"""`kvlab kernels audit`: one document or one table, and an exit code that a script can ask."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.ops import Ops
from lab.auditing import perform


def test_a_sound_kernel_is_exit_code_0_and_one_document(kvlab) -> None:
    said = kvlab("kernels", "audit", "--only", "page_copy: rows", "--seed", "3", "--json")
    assert said.code == 0 and said.err == ""
    (line,) = [each for each in said.json["checks"] if each["implementation"] == "reference"]
    assert line["ok"] and line["measured"] == {"bytes differing": 0.0}
    assert said.json["seed"] == 3 and said.json["jaccard"] == said.json["addressing"] == []


def test_a_wrong_kernel_is_exit_code_1_and_named(kvlab, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Ops.reference()
    wrong = replace(sound, page_copy=lambda dst, src, to, frm: None)
    monkeypatch.setattr(perform.Ops, "reference", lambda: wrong)
    said = kvlab("kernels", "audit", "--only", "page_copy: rows")
    assert said.code == 1
    assert "FAILED page_copy: rows that fit no word (reference)" in said.out


def test_a_name_that_no_check_has_is_one_line(kvlab) -> None:
    said = kvlab("kernels", "audit", "--only", "page_cpy")
    assert said.code == 2 and said.out == "" and "no check has 'page_cpy'" in said.err
