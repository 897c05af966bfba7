"""Shapes that the construction has, and one line for those that it does not have."""

from __future__ import annotations

import pytest

from engine.errors import ConfigError
from engine.probe.shape import SEGMENTS, ProbeShape


def test_the_default_shape_takes_4_kib_of_cache_a_token_in_two_bytes() -> None:
    shape = ProbeShape()
    assert (shape.layers, shape.hidden, shape.kv_elements) == (4, 1024, 2048)


def test_segments_do_not_overlap_and_fit_the_residual() -> None:
    shape = ProbeShape(heads=12, kv_heads=1, head_dim=64)
    lanes = [lane for segment in shape.segments.values() for lane in segment]
    assert lanes == list(range(sum(SEGMENTS.values())))
    assert len(lanes) <= shape.hidden


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"copies": 0}, "copies is 0; accepted: 1 to 61"),
        ({"context": 65536}, "context is 65536; accepted: 1 to 32768"),
        ({"head_dim": 96}, "head_dim is 96; accepted: 64, 128, 256"),
        ({"dtype": "fp8"}, "dtype is fp8; accepted: bfloat16, float16, float32"),
        ({"heads": 4}, "heads is 4; a head size of 128 takes 7 or more"),
        ({"heads": 8, "head_dim": 64}, "heads is 8; a head size of 64 takes 12 or more"),
        ({"kv_heads": 3}, "kv_heads is 3; accepted with 8 heads: 1, 2, 4"),
        ({"heads": 16, "kv_heads": 16}, "kv_heads is 16; accepted with 16 heads: 1, 2, 4, 8"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_in_one_line(
    options: dict[str, int], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{message}$"):
        ProbeShape(**options)  # type: ignore[arg-type]
