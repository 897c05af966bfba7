"""The files of a probe beside its weights, each a function of the shape alone.

One rule: an engine must find its way without `transformers`' help, and show the whole of a reply:
only the tokens that begin and end a text are special to it, so markup is text like any other.

The chat template makes of a conversation what `engine.text.template` makes of it; a reply is echoed
as it was said, and one whose thought a server took out is put together again.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.text.tokenizer import ASSISTANT, BOS, END_THINK, EOS, SPELLING, THINK, TOOL, USER
from lab.checkpoint.tokenizer import tokenizer

if TYPE_CHECKING:
    from engine.probe.shape import ProbeShape

CONFIG, WEIGHTS = "config.json", "model.safetensors"
MARK = "kvlab_probe"  # the key of config.json that holds the form and the options
FORM = 1  # one more whenever equal options give other bytes, here or in engine.probe
_THOUGHT = "message.get('reasoning_content') or message.get('reasoning')"
CHAT = (
    f"{SPELLING[BOS]}"
    "{% for message in messages %}{% set text = message['content'] or '' %}"
    f"{{% if message['role'] == 'user' %}}{SPELLING[USER]}{{{{ text }}}}"
    f"{{% elif message['role'] == 'tool' %}}{SPELLING[TOOL]}{{{{ text }}}}"
    f"{{% elif message['role'] == 'assistant' %}}{SPELLING[ASSISTANT]}"
    f"{{% set thought = {_THOUGHT} %}}"
    f"{{% if thought %}}{SPELLING[THINK]}{{{{ thought }}}}{SPELLING[END_THINK]}"
    f"{{{{ '\\n\\n' + text.lstrip('\\n') }}}}{{% else %}}{{{{ text }}}}{{% endif %}}{SPELLING[EOS]}"
    "{% else %}{{ text }}{% endif %}{% endfor %}"
    f"{{% if add_generation_prompt %}}{SPELLING[ASSISTANT]}{{% endif %}}"
)


def texts(shape: ProbeShape) -> dict[str, str]:
    """The contents of every file but the weights, by name; the configuration first."""
    ends = {"bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": EOS}
    documents: dict[str, dict[str, Any]] = {
        CONFIG: config(shape) | ends | {MARK: {"form": FORM, **asdict(shape)}},
        "generation_config.json": ends,
        "tokenizer.json": tokenizer(SPELLING, special=(BOS, EOS)),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": shape.context,
            "bos_token": SPELLING[BOS],
            "eos_token": SPELLING[EOS],
            "pad_token": SPELLING[EOS],
            "clean_up_tokenization_spaces": False,
            "chat_template": CHAT,
        },
    }
    return {name: json.dumps(it, indent=1) + "\n" for name, it in documents.items()}


def config(shape: ProbeShape) -> dict[str, Any]:
    """The model's shape, as every engine reads it; the base of the rotation both ways."""
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "vocab_size": shape.vocab,
        "max_position_embeddings": shape.context,
        "hidden_act": "silu",
        "rms_norm_eps": shape.eps,
        "rope_theta": shape.theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.theta},
        "tie_word_embeddings": False,
        "use_sliding_window": False,
        "torch_dtype": shape.dtype,
    }
