"""A request decodes once its latents are on the host, and not on the strength of an older copy."""

from __future__ import annotations

import pytest

from engine.request import Request
from engine.runner.staging import HotStaging
from tests.engine.runner.hot_world import HotWorld


@pytest.fixture
def world() -> HotWorld:
    return HotWorld()


@pytest.fixture
def staging(world: HotWorld) -> HotStaging:
    return HotStaging(world.hot, world.streams)


@pytest.fixture
def req(world: HotWorld) -> Request:
    return world.request(900)


def test_a_request_that_was_never_staged_is_not_ready(staging: HotStaging, req: Request) -> None:
    assert not staging.ready(req)


def test_a_request_is_ready_when_its_copy_has_arrived(
    world: HotWorld, staging: HotStaging, req: Request
) -> None:
    staging.stage(req)
    world.streams.land(world.now)
    assert not staging.ready(req)
    world.land()
    assert staging.ready(req)


def test_a_request_admitted_anew_is_staged_anew(
    world: HotWorld, staging: HotStaging, req: Request
) -> None:
    staging.stage(req)
    world.land()
    req.pages = list(req.pages)  # what an admission does
    assert not staging.ready(req)


def test_the_bytes_on_the_link_are_those_of_all_flash_layers(world: HotWorld, req: Request) -> None:
    copy = world.hot.stage(req, world.streams)
    whole, tail = divmod(900 // 4, 64)
    assert copy.finish_s - copy.start_s == pytest.approx(21 * (whole * 37_440 + tail * 584) / 55e9)
