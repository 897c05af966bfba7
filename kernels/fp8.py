"""Number formats of the pools, read and written by their bits: e4m3 codes, ue8m0 scales, bfloat16.

On a CPU torch's own float8 cast is 6-12 times slower than this; in Triton's interpreter casts to
small floats round wrongly. Rule: a NaN stays visible as NaN, and nothing here knows a pool.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

import torch
from torch import Tensor

from kernels.jit import jit, tl

E4M3_MAX = 448.0
LAST_FACTOR = 246  # the largest ue8m0 code whose factor of a decoded code is a finite float32
BF16_INF, BF16_NAN = 0x7F80, 0x7FFF  # the NaN that the instruction writes
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
    """Whether a byte of uint8 `codes` [N, D] is one of the two NaN codes 0x7f and 0xff."""
    if codes.numel() == 0:
        return False
    # down the columns first: that is the direction in which torch reduces strided rows fast
    if int(codes.amax(0).amax()) == 0xFF:
        return True
    return int(codes.view(torch.int8).amax(0).amax()) == 0x7F


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
    """float32 -> e4m3 bytes (uint8), round to nearest even, saturating at 448; NaN is 0x7f."""
    codes = values.clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn).view(torch.uint8)
    return codes.masked_fill_(codes == 0xFF, 0x7F)


def encode_bf16(values: Tensor) -> Tensor:
    """float32 or bfloat16, any but none -> bfloat16 bits (int16), round to nearest even; NaN is
    0x7fff. Waits for the device.

    torch's own cast gives other bits for a NaN by how many elements there are, and on a GPU.
    """
    bits = values.to(torch.bfloat16).view(torch.int16)
    size = bits & 0x7FFF
    if int(size.amax()) <= BF16_INF:
        return bits
    return torch.where(size > BF16_INF, BF16_NAN, bits)


def decode_bf16(rows: Tensor) -> Tensor:
    """bfloat16 bytes (uint8 `[..., 2n]`) -> float32 `[..., n]`."""
    return rows.view(torch.bfloat16).to(torch.float32)


@jit
def e4m3_bits(x):
    """float32 -> e4m3 code, uint8; nearest even, saturating; NaN is 0x7f."""
    bits = x.to(tl.int32, bitcast=True)
    size = tl.minimum(bits & 0x7FFFFFFF, 0x43E00000)  # 448.0
    normal = ((size + 0x7FFFF + ((size >> 20) & 1)) >> 20) - (120 << 3)
    # below 2**-6 codes count in 2**-9, which is the last bit of a float32 near 2**14
    tiny = (size.to(tl.float32, bitcast=True) + 16384.0).to(tl.int32, bitcast=True) - 0x46800000
    code = tl.where(size < 0x3C800000, tiny, normal)
    return tl.where(x == x, code | ((bits >> 24) & 0x80), 0x7F).to(tl.uint8)


@jit
def e4m3_code(x, NATIVE: tl.constexpr):
    """`e4m3_bits`, by the instruction of sm_89 and later where NATIVE: two elements each. The
    interpreter's cast rounds wrongly.
    """
    if NATIVE:
        return x.to(tl.float8e4nv).to(tl.uint8, bitcast=True)
    return e4m3_bits(x)


@jit
def bf16_code(x, NATIVE: tl.constexpr, WAS_BF16: tl.constexpr):
    """`bf16_bits`, by the instruction where NATIVE. There and back is no instruction at all: where
    `x` WAS_BF16 a NaN would keep the bits that it came with.
    """
    if NATIVE:
        bits = x.to(tl.bfloat16).to(tl.int16, bitcast=True)
        return tl.where(x == x, bits, 0x7FFF).to(tl.int16) if WAS_BF16 else bits
    return bf16_bits(x)


@jit
def magnitude(x, NATIVE: tl.constexpr):
    """|x| for a maximum that no NaN takes part in: the instruction leaves them out."""
    return tl.abs(x) if NATIVE else tl.where(x == x, tl.abs(x), 0.0)


@jit
def quotient(x, unit, inverse, NATIVE: tl.constexpr):
    """float32 `x` / `unit`, given 1 / `unit`, both rounded to nearest: exactly rounded too where it
    is 2**-20 or more and `unit` 2**-100 or more. An infinite unit gives 0, or NaN for an infinity.

    Where NATIVE, two corrections of the product: five operations, a division takes a dozen. The
    interpreter's multiply-add rounds twice, so there it divides.
    """
    if NATIVE:
        divisor = tl.where(inverse == 0.0, 0.0, unit)
        near = x * inverse
        # what is too much is subtracted: the other way round -0 would become 0, as it does in -x
        less, back = x * -1.0, inverse * -1.0
        near = tl.fma(tl.fma(near, divisor, less), back, near)
        return tl.fma(tl.fma(near, divisor, less), back, near)
    return tl.div_rn(x, unit + tl.zeros_like(x))


@jit
def e4m3_value(code):
    """e4m3 code, uint8 -> float32."""
    wide = code.to(tl.int32)
    half = (((wide & 0x80) << 8) | ((wide & 0x7F) << 7)).to(tl.int16).to(tl.float16, bitcast=True)
    return tl.where((wide & 0x7F) == 0x7F, float("nan"), half.to(tl.float32) * 256.0)


@jit
def ue8m0_value(code):
    """ue8m0 code, uint8 -> float32."""
    wide = code.to(tl.int32)
    bits = tl.where(wide == 255, 0x7FC00000, tl.where(wide == 0, 1 << 22, wide << 23))
    return bits.to(tl.float32, bitcast=True)


@jit
def bf16_bits(x):
    """float32 -> bfloat16 bits, int16; nearest even; NaN is 0x7fff."""
    bits = x.to(tl.int32, bitcast=True)
    near = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return tl.where(x == x, near, 0x7FFF).to(tl.int16)


@jit
def bf16_value(bits):
    """bfloat16 bits, int16 -> float32."""
    return (bits.to(tl.int32) << 16).to(tl.float32, bitcast=True)
