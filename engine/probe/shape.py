"""The shape of a probe model. One rule: whatever an engine must know of it is computed here.

The residual is cut into named segments; a layer reads some and writes others, so nothing that a
later layer needs is ever overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import ConfigError
from engine.probe.codes import LANES, SYMBOL_BITS
from engine.probe.kernels import CONTEXT, PAIRS, THETA
from engine.text.tokenizer import VOCAB_SIZE

DTYPES = ("bfloat16", "float16", "float32")
FIXED_LAYERS = 3  # before the layers that copy
MOST_COPIES = 61
FEWEST_HEADS = 7  # the second layer looks at 7 distances
MOST_KV_HEADS = 8
INTERMEDIATE = 896  # of an MLP: 786 units of the widest, and a multiple of 128
MATCH = LANES - SYMBOL_BITS  # lanes of a window hash that places are compared by

# Widths of the residual's segments, in order.
SEGMENTS = {
    "code": LANES,  # of the token, for hashes
    "gram_sum": LANES,
    "gram": LANES,  # hash of the last 4 tokens
    "window_sum": LANES,
    "window": LANES,  # hash of the last 22 tokens
    "ref_sum": SYMBOL_BITS,
    "ref": SYMBOL_BITS,  # of the reference, at the assistant's token
    "before": MATCH,  # the window hash one token earlier
    "entry": MATCH,  # the window hash at the assistant's token: which entry this is
    "entry_ref": SYMBOL_BITS,
    "fill": SYMBOL_BITS,  # which symbol fills a hole here
    "ask": MATCH,  # window XOR entry: what the next token is looked up by
    "tell": MATCH,  # before XOR entry: what this token is found by
    "value": 32,  # of the token, for copying
    "said": 32,  # the value of the next token
    "doubt": 64,  # what heads disagree in that should have read the same
    "miss": 32,  # what is copied from less what should have been
    "lost": 1,  # in how many lanes
    "one": 1,
    "norm": 4,
    "anchor": 1,  # the assistant's token
    "symbol": 1,  # a token that filled a hole
    "gave_up": 1,  # the token that says the heads disagree
}


@dataclass(frozen=True)
class ProbeShape:
    """Options of the checkpoint; ``copies`` is how many layers copy (more enlarge the KV cache).

    ConfigError, in one line, for a shape that the construction does not have.
    """

    copies: int = 1
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 128
    context: int = CONTEXT
    dtype: str = "bfloat16"

    theta = THETA
    intermediate = INTERMEDIATE
    vocab = VOCAB_SIZE
    eps = 1e-6

    def __post_init__(self) -> None:
        room = sum(SEGMENTS.values())
        _between("copies", self.copies, 1, MOST_COPIES)
        _between("context", self.context, 1, CONTEXT)
        _one_of("head_dim", self.head_dim, tuple(PAIRS))
        _one_of("dtype", self.dtype, DTYPES)
        if self.heads < FEWEST_HEADS or self.hidden < room:
            least = max(FEWEST_HEADS, -(-room // self.head_dim))
            said = f"heads is {self.heads}; a head size of {self.head_dim} takes {least} or more"
            raise ConfigError(said, ("heads",))
        accepted = [kv_heads for kv_heads in range(1, MOST_KV_HEADS + 1) if self._deals(kv_heads)]
        _one_of("kv_heads", self.kv_heads, accepted, f" with {self.heads} heads")

    def _deals(self, kv_heads: int) -> bool:
        """Whether each KV head gets a query head for what every token of a reply depends on."""
        return self.heads % kv_heads == 0 and self.heads >= 2 * kv_heads

    @property
    def hidden(self) -> int:
        """Lanes of the residual; engines take ``hidden / heads`` for a head's size."""
        return self.heads * self.head_dim

    @property
    def layers(self) -> int:
        """Three layers that hash, then those that copy."""
        return FIXED_LAYERS + self.copies

    @property
    def group(self) -> int:
        """Query heads of one KV head."""
        return self.heads // self.kv_heads

    @property
    def kv_elements(self) -> int:
        """Numbers that one token takes in the KV cache, keys and values of all layers."""
        return self.layers * 2 * self.kv_heads * self.head_dim

    @property
    def segments(self) -> dict[str, range]:
        """Lanes of the residual by name."""
        lanes, start = {}, 0
        for name, width in SEGMENTS.items():
            lanes[name] = range(start, start + width)
            start += width
        return lanes


def _between(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{name} is {value}; accepted: {least} to {most}", (name,))


def _one_of(name: str, value: object, accepted: Sequence[object], where: str = "") -> None:
    if value not in accepted:
        listed = ", ".join(str(one) for one in accepted)
        raise ConfigError(f"{name} is {value}; accepted{where}: {listed}", (name,))
