"""What a toggle accepts. One rule: the type that checks a value and its words agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, WithJsonSchema
from pydantic_core import PydanticCustomError

SLOWEST_PER_S, FASTEST_PER_S = 0.001, 1_000_000


@dataclass(frozen=True)
class Domain:
    """A pydantic type, and how an error message spells what it accepts.

    Numbers are multiples of ``step``.
    """

    type: Any
    words: str
    options: tuple[str, ...] = ()
    step: int = 1


def switch() -> Domain:
    """On or off."""
    return Domain(StrictBool, "true, false", ("true", "false"))


def choice(*options: str) -> Domain:
    """One of a few names."""
    return Domain(Literal[options], ", ".join(options), options)


def pattern(regex: str, words: str, options: tuple[str, ...] = ()) -> Domain:
    """Text that ``regex`` matches whole; ``options`` are those that a near miss may have meant."""
    return Domain(Annotated[str, Field(strict=True, pattern=f"^({regex})$")], words, options)


def sizes(*options: int) -> Domain:
    """One of a few whole numbers."""
    return Domain(Literal[options], ", ".join(map(str, options)))


def count(least: int, most: int, multiple_of: int = 1) -> Domain:
    """A whole number from ``least`` to ``most``: beyond that no machine holds what it asks for."""
    bounds = f"at least {least}, at most {most}"
    if multiple_of == 1:
        kind: Any = Annotated[int, Field(strict=True, ge=least, le=most)]
        return Domain(kind, f"a whole number, {bounds}")
    kind = Annotated[int, Field(strict=True, ge=least, le=most, multiple_of=multiple_of)]
    return Domain(kind, f"a multiple of {multiple_of}, {bounds}", step=multiple_of)


def rate() -> Domain:
    """So many a second; 0 stands for something else, and what is nearly 0 would never end."""
    number = Field(strict=True, ge=0, le=FASTEST_PER_S, allow_inf_nan=False)
    bounds = {"anyOf": [{"const": 0}, {"minimum": SLOWEST_PER_S}], "maximum": FASTEST_PER_S}
    kind = Annotated[
        float, number, AfterValidator(_zero_or_seen), WithJsonSchema({"type": "number", **bounds})
    ]
    return Domain(kind, f"a number a second: 0, or from {SLOWEST_PER_S} to {FASTEST_PER_S}")


def _zero_or_seen(per_s: float) -> float:
    if 0 < per_s < SLOWEST_PER_S:
        raise PydanticCustomError("too_slow", "neither 0 nor a rate that anyone would wait for")
    return per_s


def number(least: float, most: float) -> Domain:
    """A number from ``least`` to ``most``."""
    kind = Annotated[float, Field(strict=True, ge=least, le=most, allow_inf_nan=False)]
    return Domain(kind, f"a number from {least} to {most}")


def seconds() -> Domain:
    """A limit in seconds of the engine's clock."""
    return number(least=0.001, most=86_400)


def fraction() -> Domain:
    """A probability."""
    kind = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
    return Domain(kind, "a number from 0 to 1")
