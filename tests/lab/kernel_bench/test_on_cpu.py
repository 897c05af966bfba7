"""What the reference operations cost on a CPU, for a user without a device."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from kernels.bench import Load
from lab.errors import UserError
from lab.kernel_bench import on_cpu

TINY = Load(rows=2, tokens=1024, sharers=2, chunk=64)


def test_operations_and_copies_are_told_with_the_load_that_they_are_measured_at() -> None:
    said: list[str] = []
    found = on_cpu.document("index-K", said.append, TINY, seconds=0.0)
    names = [each["name"] for each in (*found["operations"], *found["copies"])]
    assert names and all("index-K" in name for name in names) and len(said) == len(names)
    assert found["load"]["tokens"] == 1024 and found["device"].startswith("cpu")
    file = StringIO()
    Console(width=100, file=file).print(on_cpu.table(found))
    text = file.getvalue()
    assert "2 requests of 1,024 tokens" in text and "store index-K, fp8" in text


def test_a_name_that_nothing_has_is_a_mistake() -> None:
    with pytest.raises(UserError, match="no operation and no copy has 'zzz' in its name"):
        on_cpu.document("zzz", lambda _: None, TINY, seconds=0.0)
