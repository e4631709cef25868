"""Operators of com.microsoft on single codes and pools, of stock operators."""

from __future__ import annotations

import tensorflow as tf

from tf_qops.portable.linear import codes, limits


def _real(x: tf.Tensor, scale: tf.Tensor, zero_point: tf.Tensor) -> tf.Tensor:
    difference = tf.cast(x, tf.int32) - tf.cast(zero_point, tf.int32)
    return tf.cast(difference, tf.float32) * scale


def _add_then_round(value: tf.Tensor, zero_point: tf.Tensor) -> tf.Tensor:
    """Rounds to codes after the zero point is added; NaN is the lowest code."""
    low, high = (float(v) for v in limits(zero_point.dtype))
    moved = value + tf.cast(zero_point, tf.float32)
    moved = tf.where(tf.math.is_nan(moved), low, tf.round(moved))
    return tf.cast(tf.cast(tf.clip_by_value(moved, low, high), tf.int32), zero_point.dtype)


def q_linear_add(
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale, c_zero_point, name=None
) -> tf.Tensor:
    """Computes TfQops>QLinearAdd."""
    total = _real(a, a_scale, a_zero_point) + _real(b, b_scale, b_zero_point)
    return tf.identity(_add_then_round(total / c_scale, c_zero_point), name=name)


def q_linear_mul(
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale, c_zero_point, name=None
) -> tf.Tensor:
    """Computes TfQops>QLinearMul."""
    product = _real(a, a_scale, a_zero_point) * _real(b, b_scale, b_zero_point)
    return tf.identity(_add_then_round(product / c_scale, c_zero_point), name=name)


def q_linear_leaky_relu(
    x, x_scale, x_zero_point, y_scale, y_zero_point, alpha, name=None
) -> tf.Tensor:
    """Computes TfQops>QLinearLeakyRelu."""
    value = _real(x, x_scale, x_zero_point)
    value = tf.where(value < 0, value * tf.constant(alpha, tf.float32), value)
    return tf.identity(codes(value / y_scale, y_zero_point, y_zero_point.dtype), name=name)


def q_linear_concat(y_scale, y_zero_point, x, x_scale, x_zero_point, axis, name=None) -> tf.Tensor:
    """Computes TfQops>QLinearConcat."""
    parts = [
        codes(_real(*operand) / y_scale, y_zero_point, y_zero_point.dtype)
        for operand in zip(x, x_scale, x_zero_point, strict=True)
    ]
    return tf.concat(parts, axis, name=name)


def q_linear_global_average_pool(
    x, x_scale, x_zero_point, y_scale, y_zero_point, channels_last, name=None
) -> tf.Tensor:
    """Computes TfQops>QLinearGlobalAveragePool."""
    spatial = list(range(1, x.shape.rank - 1) if channels_last else range(2, x.shape.rank))
    centred = tf.cast(x, tf.int32) - tf.cast(x_zero_point, tf.int32)
    total = tf.cast(tf.reduce_sum(centred, spatial, keepdims=True), tf.float32)
    pixels = tf.maximum(tf.reduce_prod(tf.gather(tf.shape(x), spatial)), 1)
    scale = x_scale / (y_scale * tf.cast(pixels, tf.float32))
    return tf.identity(codes(total * scale, y_zero_point, y_zero_point.dtype), name=name)
