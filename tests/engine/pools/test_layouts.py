"""The engine's pages are production's, byte for byte, and those that the kernels are tested on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.pools import layouts
from kernels import cases
from kernels.layout import PageLayout

PAGE_BYTES = {
    "swa": (layouts.swa, 149_760),
    "c4": (layouts.c4, 37_440),
    "c128": (layouts.c128, 1_728),
    "index-K fp8": (lambda layers: layouts.index_k("fp8", layers), 8_448),
    "index-K bf16": (lambda layers: layouts.index_k("bf16", layers), 16_384),
    "c4 state": (layouts.c4_state, 65_536),
    "index state": (layouts.index_state, 16_384),
    "c128 state": (layouts.c128_state, 524_288),
}


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("pool", PAGE_BYTES)
def test_a_page_has_production_s_size_however_many_layers_there_are(pool: str, layers: int) -> None:
    layout, page_bytes = PAGE_BYTES[pool]
    assert layout(layers).page_bytes == page_bytes
    assert layout(layers).layers == layers


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(
    ("latent", "entries"), [(layouts.swa, 256), (layouts.c4, 64), (layouts.c128, 2)]
)
def test_latent_pages_are_those_of_the_kernels_cases(
    latent: Callable[[int], PageLayout], entries: int, layers: int
) -> None:
    assert latent(layers) == cases.latent_layout(entries, layers)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("dtype", ["fp8", "bf16"])
def test_index_pages_are_those_of_the_kernels_cases(dtype: str, layers: int) -> None:
    assert layouts.index_k(dtype, layers) == cases.index_layout(dtype, layers)


def test_a_layout_says_how_many_layers_it_has() -> None:
    assert layouts.c4(1) != layouts.c4(2)
