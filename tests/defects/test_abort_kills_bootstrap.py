"""abort_kills_bootstrap: what the bootstrap loop makes of the tags of the protocol."""

from __future__ import annotations

import pytest

from engine.defects import seams
from engine.disagg.mail import Message, Tag, TransferInfo

PAGES = Message(Tag.GUARD, 7, TransferInfo((1, 2), (1, 1), 3, 4))
OTHERS = [Message(tag, 7, why="it is late") for tag in Tag if tag is not Tag.GUARD]
BUILDS = pytest.mark.parametrize(
    "build", [[], ["abort_kills_bootstrap"]], ids=["healthy", "defect"]
)
EACH = pytest.mark.parametrize("message", OTHERS, ids=lambda message: message.tag.name)


@BUILDS
def test_a_rooms_pages_are_read(build: list[str]) -> None:
    assert seams(build).bootstrap_message().read(PAGES) is PAGES


@EACH
def test_whatever_else_ends_the_loop_and_both_tags_are_named(message: Message) -> None:
    reader = seams(["abort_kills_bootstrap"]).bootstrap_message()
    with pytest.raises(AssertionError, match=f"{message.tag.value} is not NixlMsgGuard"):
        reader.read(message)


@EACH
def test_a_healthy_build_reads_every_tag(message: Message) -> None:
    assert seams([]).bootstrap_message().read(message) is message
