"""The line of a foreign log that says why its server ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.launching.logs import LONGEST, last_error, last_line

LOGS = {
    "traceback": (
        "Traceback (most recent call last):\n  x = 1\n      ^\nKeyError: 'a'\n",
        "KeyError: 'a'",
    ),
    "after the error": (
        "torch.OutOfMemoryError: no room\n[rank0] exiting\n",
        "torch.OutOfMemoryError: no room",
    ),
    "prefixed": (
        "(EngineCore pid=7) ValueError: bad block size\nbye\n",
        "(EngineCore pid=7) ValueError: bad block size",
    ),
    "usage": (
        "usage: vllm serve\nvllm: error: unrecognized arguments: --x\n",
        "vllm: error: unrecognized arguments: --x",
    ),
    "root cause": (
        "ValueError: real\nRuntimeError: failed. See root cause above.\n",
        "ValueError: real",
    ),
    "pydantic": (
        "pydantic_core.ValidationError: 1 validation error for A\n  Value error, no [x]\n  More\n",
        "pydantic_core.ValidationError: 1 validation error for A: Value error, no [x]",
    ),
    "no error": ("one\ntwo\n----\n\n", "two"),
    "colours": ("\x1b[31mcannot go on\x1b[0m\r\n", "cannot go on"),
    "nothing": ("$ vllm serve m\n", ""),
    "not UTF-8": (b"OSError: \xff\xfe gone\n", "OSError: \ufffd\ufffd gone"),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_last_error_is_told(name: str, tmp_path: Path) -> None:
    written, told = LOGS[name]
    log = tmp_path / "log"
    log.write_bytes(written if isinstance(written, bytes) else written.encode())
    assert last_error(log) == told


def test_the_last_line_is_told_of_what_did_not_end_by_itself(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("ValueError: caught\nloading weights\n", encoding="utf-8")
    assert last_line(log) == "loading weights"


def test_a_long_line_is_cut(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x" * 100_000, encoding="utf-8")
    assert len(last_line(log)) == LONGEST
