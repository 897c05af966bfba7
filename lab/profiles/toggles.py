"""An option of a foreign server as a toggle. One rule: the words it adds to a command are data.

    switch   `on` and `off`: the words for either, none where it is the server's default
    choice   `values`: the words for each name; or `flag` and `choices`, the name being its argument
    int, float, text   `flag`, whose argument is the value; `least` and `most` bound a number

``env`` sets variables too: `{value}` in them is the value, and `{number}` 1 or 0 for a switch. A
value of None adds nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lab.toggles.domain import Domain, choice, count, number, pattern, switch
from lab.toggles.registry import Toggle

Words = Annotated[tuple[str, ...], Field(strict=False)]
LARGEST = 2**31 - 1


class ProfileToggle(BaseModel):
    """One entry under ``toggles``: what a value is, and what it does to the commands."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    about: str
    type: Literal["switch", "choice", "int", "float", "text"]
    flag: str = ""
    on: Words = ()
    off: Words = ()
    values: dict[str, Words] = {}
    choices: Words = ()
    least: float = 0
    most: float = LARGEST
    default: bool | int | float | str | None = None
    env: dict[str, str] = {}
    nodes: Words = ()
    needs: Words = ()

    @property
    def domain(self) -> Domain:
        """What a scenario may set it to."""
        match self.type:
            case "switch":
                return switch()
            case "choice":
                return choice(*(self.values or self.choices))
            case "int":
                return count(int(self.least), int(self.most))
            case "float":
                return number(self.least, self.most)
        return pattern(r"[\s\S]+", "text")

    @property
    def spelled(self) -> str:
        """The production option that it stands for, as a person writes it."""
        words = [*self.on, *self.off] if self.type == "switch" else []
        flags = [self.flag, *words, *(w for each in self.values.values() for w in each)]
        said = dict.fromkeys(word for word in flags if word.startswith("-"))
        return " / ".join([*said, *self.env])

    def toggle(self, key: str) -> Toggle:
        """The same as scenarios and bisection know it."""
        return Toggle(
            key, self.domain, self.default, "engine", self.spelled, self.about, needs=self.needs
        )

    def words(self, value: Any) -> tuple[str, ...]:
        """What ``value`` adds to a command."""
        if value is None:
            return ()
        if self.type == "switch":
            return self.on if value else self.off
        if self.values:
            return self.values[str(value)]
        return (self.flag, spell(value)) if self.flag else ()

    def variables(self, value: Any) -> dict[str, str]:
        """What ``value`` adds to the environment."""
        if value is None:
            return {}
        number = str(int(value)) if isinstance(value, bool) else spell(value)
        return {
            name: text.replace("{value}", spell(value)).replace("{number}", number)
            for name, text in self.env.items()
        }


def spell(value: Any) -> str:
    """A value as a command line spells it."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
