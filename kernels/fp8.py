"""Number formats of the pools on a CPU: e4m3 codes, ue8m0 scales and bfloat16, read by their bits.

torch's own float8 cast is 6-12 times slower than these. Rule: a NaN code stays visible as NaN
(`patch_nan`), and nothing here knows a pool.
"""

import torch
from torch import Tensor

E4M3_MAX = 448.0
LAST_FACTOR = 246  # the largest ue8m0 code whose factor of a decoded code is a finite float32
CODE_UNIT = 256.0  # a decoded code is the e4m3 value over this; multiply scales by it


def decode_codes(codes: Tensor) -> Tensor:
    """e4m3 bytes (uint8, any shape, last dim contiguous) -> float32 of the e4m3 value / 256; NaN
    codes give +-1.875.

    Sign-extend to 16 bits, shift the 4+3 exponent and mantissa bits to where a float16 has its low
    exponent bits, clear the copy of the sign: the result is a float16 whose exponent bias is 8
    larger, hence the unit. Exact, subnormals included.
    """
    half = codes.view(torch.int8).to(torch.int16)
    half.mul_(128).bitwise_and_(-0x4001)
    return half.view(torch.float16).to(torch.float32)


def has_nan_code(codes: Tensor) -> bool:
    """Whether a byte is one of the two NaN codes 0x7f and 0xff."""
    if codes.numel() == 0:
        return False
    return bool(codes.view(torch.int8).amax() == 0x7F) or bool(codes.amax() == 0xFF)


def patch_nan(values: Tensor) -> Tensor:
    """Turns what `decode_codes` made of NaN codes into NaN, in place; no real code decodes to 480 /
    256.
    """
    return values.masked_fill_(values.abs() == 480.0 / CODE_UNIT, torch.nan)


def decode_ue8m0(scales: Tensor) -> Tensor:
    """ue8m0 bytes (uint8) -> float32 `2**(s - 127)`; 0xff is NaN, as the OCP format says."""
    bits = scales.to(torch.int32) << 23
    bits = torch.where(scales == 0, 1 << 22, bits)  # 2**-127 is a subnormal
    return torch.where(scales == 0xFF, 0x7FC00000, bits).to(torch.int32).view(torch.float32)


def code_factor(scales: Tensor) -> Tensor:
    """ue8m0 bytes, all <= LAST_FACTOR, -> the multiplier of decoded codes, 256 * 2**(s - 127)."""
    return scales.to(torch.int32).add_(8).bitwise_left_shift_(23).view(torch.float32)


def ue8m0_of(absmax: Tensor) -> Tensor:
    """Exponent code (int32) of the smallest power of two `s` with `absmax / s <= 448`, from the
    bits of float32 `absmax` (> 0, finite).
    """
    bits = absmax.view(torch.int32)
    # 448 = 1.75 * 2**8, so only the mantissa's comparison with .75 decides the last step
    return (bits >> 23) - 8 + ((bits & 0x7FFFFF) > 0x600000).to(torch.int32)


def encode_e4m3(values: Tensor) -> Tensor:
    """float32 -> e4m3 bytes (uint8), round to nearest even, saturating at 448; NaN stays NaN."""
    return values.clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn).view(torch.uint8)


def decode_bf16(rows: Tensor) -> Tensor:
    """bfloat16 bytes (uint8 `[..., 2n]`) -> float32 `[..., n]`."""
    return rows.view(torch.bfloat16).to(torch.float32)
