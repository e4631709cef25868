"""The operators' values in plain numpy, written from the specifications, slow and obvious."""

import itertools

import ml_dtypes
import numpy as np

INTEGERS = {
    name: np.dtype(name)
    for name in ("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2")
}
FLOATS = {
    name: np.dtype(name)
    for name in (
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float4_e2m1fn",
    )
}


def all_codes(dtype: np.dtype) -> np.ndarray:
    """Every value of a dtype of at most 16 bits."""
    if dtype in INTEGERS.values():
        limits = ml_dtypes.iinfo(dtype)
        return np.arange(int(limits.min), int(limits.max) + 1).astype(dtype)
    return np.arange(16 if dtype.name.startswith("float4") else 256, dtype=np.uint8).view(dtype)


def flush(values: np.ndarray) -> np.ndarray:
    """Denormal float32 numbers as zeros of their sign, as TensorFlow runs its kernels."""
    tiny = np.abs(values) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), values), values)


def spread(values: np.ndarray, x: np.ndarray, axis: int, block_size: int) -> np.ndarray:
    """Repeats a scale or zero point to a shape that broadcasts with x."""
    if values.size == 1 and values.ndim < 2:
        return values.reshape(())
    if block_size:
        repeated = np.repeat(values, block_size, axis)
        return np.take(repeated, range(x.shape[axis]), axis)
    return values.reshape([-1 if d == axis % x.ndim else 1 for d in range(x.ndim)])


def dequantize_linear(x, scale, zero_point=None, axis=1, block_size=0, dtype=np.float32):
    exact = np.int64 if x.dtype in INTEGERS.values() or x.dtype == np.int32 else np.float32
    difference = x.astype(exact)
    if zero_point is not None:
        difference = difference - spread(zero_point, x, axis, block_size).astype(exact)
    wide_scale = flush(spread(scale, x, axis, block_size).astype(np.float32))
    with np.errstate(all="ignore"):
        return flush(difference.astype(np.float32) * wide_scale).astype(dtype)


def quantize_linear(x, scale, zero_point, axis=1, block_size=0, precision=np.float32):
    """To zero_point's dtype, saturating."""
    dtype = zero_point.dtype
    with np.errstate(all="ignore"):
        wide_scale = flush(spread(scale, x, axis, block_size).astype(np.float32))
        quotient = flush(flush(x.astype(np.float32)) / wide_scale)
        quotient = quotient.astype(precision).astype(np.float32)
        if dtype in FLOATS.values():
            largest = np.float32(ml_dtypes.finfo(dtype).max)
            return np.clip(quotient, -largest, largest).astype(dtype)
        limits = ml_dtypes.iinfo(dtype)
        zero = spread(zero_point, x, axis, block_size).astype(np.float64)
        codes = np.clip(np.rint(quotient.astype(np.float64)) + zero, limits.min, limits.max)
        return np.where(np.isnan(quotient), limits.min, codes).astype(np.int64).astype(dtype)


def qlinear_conv(
    x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias, *,
    strides, dilations, pads, group,
):  # fmt: skip
    """NCHW, explicit pads; any number of spatial dimensions."""
    rank = x.ndim - 2
    filters, per_group = w.shape[:2]
    centred = x.astype(np.int64) - int(x_zero_point)
    widths = [(0, 0), (0, 0)] + [(pads[d], pads[rank + d]) for d in range(rank)]
    padded = np.pad(centred, widths)
    extents = [(w.shape[2 + d] - 1) * dilations[d] + 1 for d in range(rank)]
    out = [(padded.shape[2 + d] - extents[d]) // strides[d] + 1 for d in range(rank)]
    zero = np.broadcast_to(w_zero_point, [filters]).reshape([filters] + [1] * (rank + 1))
    weights = w.astype(np.int64) - zero.astype(np.int64)
    acc = np.zeros([x.shape[0], filters, *out], np.int64)
    for m, position in itertools.product(range(filters), itertools.product(*map(range, out))):
        first = m // (filters // group) * per_group
        window = padded[(slice(None), slice(first, first + per_group))]
        for d in range(rank):
            begin = position[d] * strides[d]
            taps = range(begin, begin + extents[d], dilations[d])
            window = np.take(window, taps, 2 + d)
        acc[(slice(None), m, *position)] = (window * weights[m]).reshape(len(x), -1).sum(1)
    shape = [filters] + [1] * rank
    if bias is not None:
        acc += bias.astype(np.int64).reshape(shape)
    acc = acc.astype(np.int32)  # Modulo 2^32.
    scale = (np.float32(x_scale) * w_scale.astype(np.float32)) / np.float32(y_scale)
    limits = np.iinfo(y_zero_point.dtype)
    scaled = acc.astype(np.float32) * np.broadcast_to(scale, [filters]).reshape(shape)
    codes = np.rint(scaled.astype(np.float64)) + int(y_zero_point)
    return np.clip(codes, limits.min, limits.max).astype(y_zero_point.dtype)
