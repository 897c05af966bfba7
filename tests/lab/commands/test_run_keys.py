"""A run of a launched server that quotes its key keeps it nowhere: not in the terminal, not in the
database, not in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.store import open_results

if TYPE_CHECKING:
    from pathlib import Path

KEY, VARIABLE = "sk-Very-Secret-Key-123456789", "KVLAB_TEST_KEY"
PROFILE = f"""\
name: quoting
about: ends at once, and quotes what it was given
status: "run: by this test"
params: {{api_key_env: {VARIABLE}}}
nodes:
  - name: server
    command: >-
      sh -c 'echo "port {{port}}"; echo "ValueError: api_key=${VARIABLE}" >&2; exit 1'
endpoint: server
"""
SCENARIO = """\
name: quoted
target: {profile: quoting.yaml}
workload: {kind: tool_tasks, preset: small, sessions: 2}
arms: [{name: a, concurrency: 1}]
"""


@pytest.fixture
def quoted(folder: Path) -> Path:
    (folder / "quoting.yaml").write_text(PROFILE)
    (folder / "quoted.yaml").write_text(SCENARIO)
    return folder


def test_a_server_that_fails_at_its_start_and_quotes_its_key_is_told_of_without_it(
    quoted: Path, kvlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    said = kvlab("run", "quoted.yaml", "--json", "--out", "out")
    assert said.code == 3
    assert f"ended with exit code 1: ValueError: api_key=${VARIABLE}; log: " in said.err
    with open_results(quoted / "results" / "lab.duckdb") as results:
        (run,) = results.runs()
        kept = str(results.histories(run.id))
    logs = [path.read_text() for path in quoted.rglob("boot-*.log")]
    assert len(logs) == 1 and f"api_key=${VARIABLE}" in logs[0]
    assert all("Very" not in told for told in (said.out, said.err, kept, *logs))


def test_a_key_that_is_not_there_is_told_before_anything_is_started(
    quoted: Path, kvlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    said = kvlab("run", "quoted.yaml", "--out", "out")
    told = f"kvlab: api_key_env: the environment variable {VARIABLE} is not set\n"
    assert (said.code, said.err) == (2, told)
    assert not [*quoted.rglob("boot-*.log")]
