"""What a launched server prints of its key is kept nowhere: it fails, dies, or goes on serving."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from lab.driver.secret import Secret
from lab.errors import TargetError
from lab.launching import Servers
from lab.launching.logs import last_error, without_key
from tests.lab.launching.launched import get, profile

if TYPE_CHECKING:
    from pathlib import Path

KEY = Secret("A_KEY", "sk-Very-Secret-Key-123456789")
TOLD = f"ValueError: bad arguments: api_key={KEY.value}"


def test_a_server_that_quotes_its_key_and_ends_has_told_nobody(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path, {"more": f"--die '{TOLD}'"}, secret=KEY) as servers:
        with pytest.raises(TargetError) as error:
            servers.up({})
    assert "ValueError: bad arguments: api_key=$A_KEY; log: " in str(error.value)
    assert "Very" not in (tmp_path / "boot-1-server.log").read_text()


def test_a_server_s_log_is_its_user_s_alone_and_without_the_key_once_it_has_ended(
    tmp_path: Path,
) -> None:
    quoting = profile(old="{toggles*} ")
    log = tmp_path / "boot-1-server.log"
    with Servers(quoting, tmp_path, {"more": f"--size {KEY.value}"}, secret=KEY) as servers:
        assert KEY.value in get(servers.up({}).base_url)["argv"]
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        assert KEY.value in log.read_text()
    assert log.read_text().endswith("--size $A_KEY\nplain listens\n")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("told", "left"),
    [
        (f"a\xff {KEY.value}\nb".encode("latin-1"), b"a\xff $A_KEY\nb"),
        (b"{'key': 'sk-Very-Secret...t-Key-123456789'}", b"{'key': '$A_KEY...$A_KEY'}"),
        (b"nothing of it\n", b"nothing of it\n"),
    ],
)
def test_a_log_keeps_every_byte_but_the_key(told: bytes, left: bytes, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(told)
    without_key(log, Secret())
    assert log.read_bytes() == told
    without_key(log, KEY)
    assert log.read_bytes() == left
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_what_pydantic_was_given_is_not_quoted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "pydantic_core.ValidationError: 1 validation error for Args\n"
        "  Value error, no such model [type=value_error, input_value={'key': 'sk-1'}, "
        "input_type=dict]\n"
    )
    told = "1 validation error for Args: Value error, no such model [type=value_error]"
    assert last_error(log) == f"pydantic_core.ValidationError: {told}"
