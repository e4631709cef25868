"""DequantizeLinear and QuantizeLinear, of stock operators."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import tensorflow as tf


def limits(dtype: tf.DType) -> tuple[int, int]:
    """Returns the lowest and highest code of a type."""
    info = ml_dtypes.iinfo(dtype.as_numpy_dtype)
    return int(info.min), int(info.max)


def codes(value: tf.Tensor, zero_point: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Rounds to codes, ties to even before the zero point is added; NaN is the lowest code."""
    low, high = (float(v) for v in limits(dtype))
    zero = tf.cast(zero_point, tf.float64)
    whole = tf.round(tf.cast(value, tf.float64)) + zero
    whole = tf.where(tf.math.is_nan(whole), tf.cast(low, tf.float64), whole)
    return tf.cast(tf.cast(tf.clip_by_value(whole, low, high), tf.int64), dtype)


def _spread(parameter: tf.Tensor, x: tf.Tensor, axis: int, block_size: int) -> tf.Tensor:
    """Returns scales or zero points in a shape that broadcasts with x."""
    if parameter.shape.num_elements() == 1 and parameter.shape.rank < 2:
        return tf.reshape(parameter, [])
    if block_size:
        repeated = tf.repeat(parameter, block_size, axis)
        begin = [0] * x.shape.rank
        size = [-1] * x.shape.rank
        size[axis] = tf.shape(x)[axis]
        return tf.slice(repeated, begin, size)
    rank = x.shape.rank
    return tf.reshape(parameter, [-1 if d == axis % rank else 1 for d in range(rank)])


def dequantize_linear(
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: Sequence[tf.Tensor],
    output_dtype: tf.DType,
    axis: int,
    block_size: int,
    name: str | None = None,
) -> tf.Tensor:
    """Computes TfQops>DequantizeLinear."""
    wide = tf.float32 if x.dtype.is_floating else tf.int64
    difference = tf.cast(x, wide)
    if x_zero_point:
        difference -= tf.cast(_spread(x_zero_point[0], x, axis, block_size), wide)
    scale = tf.cast(_spread(x_scale, x, axis, block_size), tf.float32)
    return tf.cast(tf.cast(difference, tf.float32) * scale, output_dtype, name=name)


def quantize_linear(
    x: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: Sequence[tf.Tensor],
    output_dtype: tf.DType,
    axis: int,
    block_size: int,
    saturate: bool,
    precision: tf.DType,
    name: str | None = None,
) -> tf.Tensor:
    """Computes TfQops>QuantizeLinear for integers."""
    if not output_dtype.is_integer:
        raise ValueError(f"Only integers can be made of stock operators. Received: {output_dtype}")
    scale = tf.cast(_spread(y_scale, x, axis, block_size), tf.float32)
    quotient = tf.cast(tf.cast(x, tf.float32) / scale, precision)
    zero = tf.zeros([], tf.int64)
    if y_zero_point:
        zero = tf.cast(_spread(y_zero_point[0], x, axis, block_size), tf.int64)
    return tf.identity(codes(quotient, zero, output_dtype), name=name)
