"""The shape of a probe model. One rule: whatever an engine must know of it is computed here."""

from __future__ import annotations

from dataclasses import dataclass

from engine.text.tokenizer import VOCAB_SIZE

DTYPES = ("bfloat16", "float16", "float32")
FIXED_LAYERS = 3  # before the layers that copy


@dataclass(frozen=True)
class ProbeShape:
    """Options of the checkpoint; ``copies`` is how many layers copy (more enlarge the KV cache)."""

    copies: int = 1
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 128
    context: int = 32768
    dtype: str = "bfloat16"

    @property
    def hidden(self) -> int:
        """Lanes of the residual; engines take ``hidden / heads`` for a head's size."""
        return self.heads * self.head_dim

    @property
    def layers(self) -> int:
        """Three layers that hash, then those that copy."""
        return FIXED_LAYERS + self.copies

    @property
    def vocab(self) -> int:
        """Tokens of the tokenizer: bytes and specials."""
        return VOCAB_SIZE
