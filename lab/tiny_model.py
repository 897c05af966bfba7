"""A checkpoint of a few hundred kilobytes that any engine serves. One rule: nothing is learned.

    python -m lab.tiny_model FOLDER [SEED]

Two plain Qwen2 layers with random float32 weights, a token a byte. What it says is noise, but of
printable ASCII, and as much a function of the whole prompt as any model's: its own first reply is
the oracle (`workload: {kind: determinism}`). Hidden size, heads and vocabulary are the smallest
that the engines' CPU kernels take.
"""

from __future__ import annotations

import json
import math
import string
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.checkpoint import tensors
from lab.checkpoint.tokenizer import BYTES, tokenizer
from lab.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

HIDDEN, MLP, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 64, 128, 2, 2, 1, 32
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
VOCAB = 272
CONTEXT = 4096
SAYS = frozenset((string.ascii_letters + string.digits + " .,").encode())
ENDS = (256, 258, 259, 260)  # ids that end a reply: one word in twenty or so
SHARP = 3.0  # of query and key: attention looks at a few positions, so that each of them tells
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write(folder: Path, seed: int = 0) -> None:
    """Write the checkpoint and its tokenizer; raises `UserError` where that cannot be done."""
    added = dict(enumerate(SPECIAL, start=BYTES))
    ends = {"bos_token_id": BYTES, "eos_token_id": list(ENDS), "pad_token_id": BYTES}
    texts = {
        "config.json": config() | ends,
        "generation_config.json": ends,
        "tokenizer.json": tokenizer(added, special=added),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": CONTEXT,
            "eos_token": SPECIAL[2],
            "pad_token": SPECIAL[0],
            "clean_up_tokenization_spaces": False,
            "chat_template": CHAT,
        },
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
        with (folder / "model.safetensors").open("wb") as file:
            tensors.write(file, weights(seed))
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from None


def config() -> dict[str, Any]:
    """The model's shape, as every engine reads it."""
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_size": HIDDEN,
        "intermediate_size": MLP,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "vocab_size": VOCAB,
        "max_position_embeddings": CONTEXT,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 10_000.0,
        "tie_word_embeddings": False,
        "use_sliding_window": False,
        "torch_dtype": "float32",
    }


def weights(seed: int) -> dict[str, NDArray[np.float32]]:
    """Random weights by name, [out, in]; only what may be said, or ends a reply, has a logit."""
    rng = np.random.default_rng(seed)

    def drawn(out: int, into: int, scale: float = 1.0) -> NDArray[np.float32]:
        return (scale / math.sqrt(into) * rng.standard_normal((out, into))).astype(np.float32)

    ones, kv = np.ones(HIDDEN, np.float32), KV_HEADS * HEAD_DIM
    found = {"model.embed_tokens.weight": drawn(VOCAB, HIDDEN, math.sqrt(HIDDEN))}
    for layer in range(LAYERS):
        of = f"model.layers.{layer}."
        found |= {
            f"{of}input_layernorm.weight": ones,
            f"{of}post_attention_layernorm.weight": ones,
            f"{of}self_attn.o_proj.weight": drawn(HIDDEN, HEADS * HEAD_DIM, SHARP),
            f"{of}mlp.gate_proj.weight": drawn(MLP, HIDDEN, SHARP),
            f"{of}mlp.up_proj.weight": drawn(MLP, HIDDEN),
            f"{of}mlp.down_proj.weight": drawn(HIDDEN, MLP),
        }
        for name, out, scale in (("q", HIDDEN, SHARP), ("k", kv, 1.0), ("v", kv, 1.0)):
            found[f"{of}self_attn.{name}_proj.weight"] = drawn(out, HIDDEN, scale)
            found[f"{of}self_attn.{name}_proj.bias"] = np.zeros(out, np.float32)
    said = np.isin(np.arange(VOCAB), [*SAYS, *ENDS])[:, None]
    return found | {"model.norm.weight": ones, "lm_head.weight": drawn(VOCAB, HIDDEN, 4.0) * said}


def main() -> None:
    """The command of the docstring."""
    from pathlib import Path

    folder, *seed = sys.argv[1:]
    write(Path(folder), *map(int, seed))


if __name__ == "__main__":
    main()
