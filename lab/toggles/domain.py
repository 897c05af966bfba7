"""What a toggle accepts. One rule: the type that checks a value and its words agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool


@dataclass(frozen=True)
class Domain:
    """A pydantic type, and how an error message spells what it accepts."""

    type: Any
    words: str
    options: tuple[str, ...] = ()


def switch() -> Domain:
    """On or off."""
    return Domain(StrictBool, "true, false", ("true", "false"))


def choice(*options: str) -> Domain:
    """One of a few names."""
    return Domain(Literal[options], ", ".join(options), options)


def count(least: int, multiple_of: int = 1) -> Domain:
    """A whole number, at least ``least``."""
    if multiple_of == 1:
        kind: Any = Annotated[int, Field(strict=True, ge=least)]
        return Domain(kind, f"a whole number, at least {least}")
    kind = Annotated[int, Field(strict=True, ge=least, multiple_of=multiple_of)]
    return Domain(kind, f"a multiple of {multiple_of}, at least {least}")


def rate() -> Domain:
    """Events a second, zero or more."""
    kind = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
    return Domain(kind, "a number a second, at least 0")


def fraction() -> Domain:
    """A probability."""
    kind = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
    return Domain(kind, "a number from 0 to 1")
