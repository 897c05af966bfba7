"""The base of every mapping in a scenario file. One rule: no key but its own, no other type."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, create_model


class Strict(BaseModel):
    """A file's mapping: no key but its own, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Loose(BaseModel):
    """A mapping that also holds keys which only a profile knows, in the published schema."""

    model_config = ConfigDict(extra="allow", strict=True)


def model(name: str, fields: dict[str, Any], base: type[BaseModel] = Strict) -> type[BaseModel]:
    """A model made of fields known only when the registries have loaded."""
    return create_model(name, __base__=base, **fields)
