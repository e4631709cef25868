"""com.microsoft's operators on 8-bit codes in plain numpy, written from the formulas."""

import itertools

import numpy as np

from tests.contract import flush


def codes(rng, dtype, shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def real(x, scale, zero):
    """(x - zero) * scale in float32."""
    difference = (x.astype(np.int64) - np.int64(zero)).astype(np.float32)
    with np.errstate(all="ignore"):
        return flush(difference * flush(np.float32(scale)))


def quotient(value, scale):
    with np.errstate(all="ignore"):
        return flush(flush(value.astype(np.float32)) / flush(np.float32(scale)))


def round_then_add(value, zero):
    """The rule of most operators; `value` is in units of the scale."""
    limits = np.iinfo(zero.dtype)
    whole = np.clip(np.rint(value.astype(np.float64)) + float(zero), limits.min, limits.max)
    return np.where(np.isnan(value), limits.min, whole).astype(zero.dtype)


def add_then_round(value, zero):
    """The rule of QLinearAdd, QLinearMul and QLinearAveragePool."""
    limits = np.iinfo(zero.dtype)
    with np.errstate(all="ignore"):
        moved = (value + np.float32(zero)).astype(np.float32)
    whole = np.clip(np.rint(moved), limits.min, limits.max)
    return np.where(np.isnan(moved), limits.min, whole).astype(zero.dtype)


def add(a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero):
    with np.errstate(all="ignore"):
        total = flush(real(a, a_scale, a_zero) + real(b, b_scale, b_zero))
    return add_then_round(quotient(total, c_scale), c_zero)


def mul(a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero):
    with np.errstate(all="ignore"):
        product = flush(real(a, a_scale, a_zero) * real(b, b_scale, b_zero))
    return add_then_round(quotient(product, c_scale), c_zero)


def leaky_relu(x, x_scale, x_zero, y_scale, y_zero, alpha):
    value = real(x, x_scale, x_zero)
    value = np.where(value < 0, flush(value * np.float32(alpha)), value)
    return round_then_add(quotient(value, y_scale), y_zero)


def sigmoid(x, x_scale, x_zero, y_scale, y_zero):
    with np.errstate(all="ignore"):
        value = 1.0 / (1.0 + np.exp(-real(x, x_scale, x_zero).astype(np.float64)))
    return round_then_add(quotient(value.astype(np.float32), y_scale), y_zero)


def softmax(x, x_scale, x_zero, y_scale, y_zero, axis=-1, opset=13):
    del x_zero  # It has no influence.
    shape = x.shape
    if opset < 13:
        at = axis % x.ndim
        x, axis = x.reshape(int(np.prod(shape[:at])), -1), 1
    value = x.astype(np.float64) * np.float64(x_scale)
    with np.errstate(all="ignore"):
        e = np.exp(value - value.max(axis, keepdims=True))
        p = (e / e.sum(axis, keepdims=True)).astype(np.float32)
    return round_then_add(quotient(p, y_scale), y_zero).reshape(shape)


def concat(y_scale, y_zero, *inputs, axis):
    parts = [
        round_then_add(quotient(real(*inputs[i : i + 3]), y_scale), y_zero)
        for i in range(0, len(inputs), 3)
    ]
    return np.concatenate(parts, axis)


def windows(size, kernel, stride, dilation, begin, end, ceil_mode):
    """The positions of each window along a dimension, also those on padding."""
    starts, start = [], -begin
    extent = (kernel - 1) * dilation + 1
    while start + extent <= size + end:
        starts.append(start)
        start += stride
    if ceil_mode and start - stride + extent < size + end and start < size:
        starts.append(start)
    return [[start + k * dilation for k in range(kernel)] for start in starts]


def average_pool(
    x, x_scale, x_zero, y_scale, y_zero, *, kernel_shape, strides, dilations, pads,
    ceil_mode=False, count_include_pad=False,
):  # fmt: skip
    """Channels first, explicit pads."""
    rank = x.ndim - 2
    places = [
        windows(x.shape[2 + d], kernel_shape[d], strides[d], dilations[d], pads[d],
                pads[rank + d], ceil_mode) for d in range(rank)
    ]  # fmt: skip
    ratio = quotient(np.float32(x_scale), y_scale)
    y = np.empty([*x.shape[:2], *map(len, places)], y_zero.dtype)
    for position in itertools.product(*(range(len(p)) for p in places)):
        window = x.astype(np.int64) - int(x_zero)
        for d, at in enumerate(position):
            inside = [i for i in places[d][at] if 0 <= i < x.shape[2 + d]]
            window = np.take(window, inside, 2 + d)
        count = np.prod(kernel_shape) if count_include_pad else np.prod(window.shape[2:])
        total = window.reshape(*x.shape[:2], -1).sum(2).astype(np.float32)
        with np.errstate(all="ignore"):
            value = flush(total / np.float32(max(count, 1)) * ratio)
        y[(slice(None), slice(None), *position)] = add_then_round(value, y_zero)
    return y


def global_average_pool(x, x_scale, x_zero, y_scale, y_zero):
    """Channels first."""
    spatial = tuple(range(2, x.ndim))
    total = (x.astype(np.int64) - int(x_zero)).sum(spatial, keepdims=True).astype(np.float32)
    n = np.float32(max(np.prod(x.shape[2:]), 1))
    scale = quotient(np.float32(x_scale), np.float32(y_scale) * n)
    with np.errstate(all="ignore"):
        return round_then_add(total * scale, y_zero)


def dynamic_quantize(x):
    x = flush(x)
    low, high = (np.float32(f(x, where=~np.isnan(x), initial=0)) for f in (np.min, np.max))
    with np.errstate(all="ignore"):
        scale = flush(np.float32(high - low) / np.float32(255))
        scale = np.float32(1) if scale == 0 else np.float32(scale)
        start = np.float32(0) - low / scale
    zero = np.uint8(0 if np.isnan(start) else np.rint(np.clip(start, 0, 255)))
    return round_then_add(quotient(x, scale), zero), scale, zero
