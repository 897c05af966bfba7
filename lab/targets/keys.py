"""A server's key, from the environment. One rule: this file alone reads a key's variable, and no
message holds what is in it.
"""

from __future__ import annotations

import os

from lab.driver.secret import Secret
from lab.errors import UserError


def secret(variable: str) -> Secret:
    """The key in the environment variable, none for an empty name; raises `UserError`."""
    if not variable:
        return Secret()
    value = os.environ.get(variable, "").strip()
    if not value:
        raise UserError(f"api_key_env: the environment variable {variable} is not set")
    if not (value.isascii() and value.isprintable()):
        raise UserError(f"api_key_env: what is in {variable} cannot stand in an HTTP header")
    return Secret(variable, value)
