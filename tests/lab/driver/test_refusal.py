"""An error instead of a reply, as the record tells it."""

from __future__ import annotations

from typing import Any

import pytest

from lab.driver.refusal import MOST, refusal


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ('{"error": {"message": "no room", "type": "t", "code": "c"}}', "c: no room"),
        ({"error": {"message": "no\nroom", "type": "server_error"}}, "server_error: no room"),
        ({"error": {"message": "no"}}, "no"),
        ({"error": {"message": "Room 7 failed", "code": "room_failed"}}, "Room 7 failed"),
        ({"error": "down"}, "{'error': 'down'}"),
        ({"error": {"message": 5}}, "{'error': {'message': 5}}"),
        ("<html>\n oops </html>", "<html> oops </html>"),
        ("[" * 100_000, "[" * MOST + "..."),
        ([1], "[1]"),
        ("", ""),
    ],
)
def test_openais_error_is_one_line_and_anything_else_is_cut(said: Any, line: str) -> None:
    assert refusal(said) == line
