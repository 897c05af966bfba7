"""Every number of the checkpoint, in Qwen2's names. One rule: equal bytes for equal options.

All numbers are in bfloat16's grid, whatever the dtype of the file, so that they are the same model.
Most are small integers; a query's are float64 arithmetic on the integers of ``kernels``, rounded.

A norm is the identity: four lanes of the residual hold integers of ``hidden = a² + b² + c² + d²``,
128 times, beside which nothing else weighs, so the root mean square is 128 and so is its weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from engine.codewords import Signs
from engine.probe import attention, codes, mlp
from engine.probe.shape import FIXED_LAYERS, ProbeShape
from engine.text.tokenizer import ASSISTANT, DSML, EOS

LOST_TOKEN = DSML + 1  # said where no row is the right one, or heads disagree: a spare token
NORM = 128.0
LOGIT = 4.0  # a lane of the right token, of 32
LOST_LOGIT = 256.0  # a lane in doubt or missed, over the 128 of the right token
GAVE_UP_LOGIT = 32768.0  # then the reply ends, whatever is in doubt: 96 lanes at most

Named = Iterator[tuple[str, Signs]]


def tensors(shape: ProbeShape) -> Named:
    """Names and values, float32 ``[out, in]``, in the order of the model."""
    for name, values in _tensors(shape):
        yield name, to_bfloat16(values)


def to_bfloat16(values: Signs) -> Signs:
    """The nearest bfloat16 of each float32, ties to even, as float32."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32)


def _tensors(shape: ProbeShape) -> Named:
    yield "model.embed_tokens.weight", embedding(shape)
    for layer in range(shape.layers):
        yield from _layer(shape, layer)
    yield "model.norm.weight", _norm(shape)
    yield "lm_head.weight", head(shape)


def embedding(shape: ProbeShape) -> Signs:
    """float32 [vocab, hidden]: codes, values and kinds of the tokens, and the constants."""
    table, at = np.zeros((shape.vocab, shape.hidden), dtype=np.float32), shape.segments
    table[:, at["code"]] = codes.hash_codes()
    table[:, at["value"]] = codes.value_codes()
    table[:, at["one"]] = 1
    table[:, at["norm"]] = np.array(four_squares(shape.hidden)) * NORM
    table[ASSISTANT, at["anchor"]] = 1
    table[[ord(symbol) for symbol in codes.SYMBOLS], at["symbol"][0]] = 1
    table[LOST_TOKEN, at["gave_up"]] = 1
    return table


def head(shape: ProbeShape) -> Signs:
    """float32 [vocab, hidden]: how each token is read off."""
    table, at = np.zeros((shape.vocab, shape.hidden), dtype=np.float32), shape.segments
    table[:, at["said"]] = codes.value_codes() * LOGIT
    table[LOST_TOKEN, at["lost"]] = LOST_LOGIT
    table[EOS, at["gave_up"]] = GAVE_UP_LOGIT
    return table


def four_squares(total: int) -> tuple[int, int, int, int]:
    """Four integers whose squares add up to ``total``, as Lagrange has it."""
    root = math.isqrt(total)
    down = range(root, -1, -1)
    for a, b, c in product(down, down, down):
        left = total - a * a - b * b - c * c
        if left >= 0 and math.isqrt(left) ** 2 == left:
            return a, b, c, math.isqrt(left)
    raise ValueError(f"{total} is negative")


def _layer(shape: ProbeShape, layer: int) -> Named:
    prefix = f"model.layers.{layer}"
    yield f"{prefix}.input_layernorm.weight", _norm(shape)
    heads = _attention(shape, layer)
    for name, values in {"q": heads.query, "k": heads.key, "v": heads.value}.items():
        yield f"{prefix}.self_attn.{name}_proj.weight", values
        yield f"{prefix}.self_attn.{name}_proj.bias", np.zeros(len(values), dtype=np.float32)
    yield f"{prefix}.self_attn.o_proj.weight", heads.output
    yield f"{prefix}.post_attention_layernorm.weight", _norm(shape)
    units = _mlp(shape, layer)
    yield f"{prefix}.mlp.gate_proj.weight", units.gate
    yield f"{prefix}.mlp.up_proj.weight", units.up
    yield f"{prefix}.mlp.down_proj.weight", units.down


def _attention(shape: ProbeShape, layer: int) -> attention.Projections:
    if layer < FIXED_LAYERS:
        return attention.hashing(shape, layer)
    return attention.copying(shape, layer - FIXED_LAYERS)


def _mlp(shape: ProbeShape, layer: int) -> mlp.Mlp:
    hashing = (mlp.grams, mlp.windows, mlp.places)
    if layer < len(hashing):
        return hashing[layer](shape)
    return mlp.answer(shape) if layer == shape.layers - 1 else mlp.Mlp(shape)


def _norm(shape: ProbeShape) -> Signs:
    return np.full(shape.hidden, NORM, dtype=np.float32)
