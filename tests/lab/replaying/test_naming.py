"""The file of a shortened scenario says of which session it is, and of which arm."""

from __future__ import annotations

import pytest

from lab.replaying.naming import file_of


@pytest.mark.parametrize(
    ("arms", "files"),
    [
        (["bf16, overlap on"], ["session-5.yaml"]),
        (["BF16, overlap on", "good"], ["session-5-bf16-overlap-on.yaml", "session-5-good.yaml"]),
        (["a/b", "a b"], ["session-5-1-a-b.yaml", "session-5-2-a-b.yaml"]),
        (["../x", "♥", "–"], ["session-5-1-x.yaml", "session-5-2.yaml", "session-5-3.yaml"]),
    ],
    ids=["one arm", "several", "of one spelling", "signs that no file needs"],
)
def test_each_case_of_a_run_has_a_file_of_its_own(arms: list[str], files: list[str]) -> None:
    assert [file_of(5, arm, arms) for arm in arms] == files
