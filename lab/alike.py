"""Sentences that differ only in their numbers, told as one. One rule: a number stands in it only
where all of them have it; else N does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
UNKNOWN = "N"


def alike(sentences: Iterable[str]) -> dict[str, int]:
    """Each kind of sentence and how many there were of it, the most frequent first."""
    groups: dict[str, Counter[str]] = {}
    for said in sentences:
        groups.setdefault(NUMBER.sub(UNKNOWN, said), Counter())[said] += 1
    found = {common(group): group.total() for group in groups.values()}
    return dict(Counter(found).most_common())


def common(sentences: Iterable[str]) -> str:
    """The sentence with ``N`` for each number that is not the same in all of them."""
    first, *others = sentences
    rest = [NUMBER.findall(said) for said in others]
    numbers = [
        number if all(other[at] == number for other in rest) else UNKNOWN
        for at, number in enumerate(NUMBER.findall(first))
    ]
    fill = iter(numbers)
    return NUMBER.sub(lambda _: next(fill), first)
