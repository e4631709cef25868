"""Elementwise operators that Keras lacks or computes otherwise."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer


@keras.saving.register_keras_serializable(package="tf_qops")
class TruncatingDivide(PlainLayer):
    """Divides integers and drops the fraction (ONNX Div on integers, versions 7 to 14).

    Input: a and b, integers of one dtype, broadcast together. Output: the same dtype.

    Example:

    >>> TruncatingDivide()(tf.constant(-7), tf.constant(2)).numpy().item()
    -3
    """

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)

    def call(self, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        """Returns the quotient."""
        if a.dtype.is_unsigned or a.dtype.size < 4:
            return tf.cast(tf.truncatediv(tf.cast(a, tf.int64), tf.cast(b, tf.int64)), a.dtype)
        return tf.truncatediv(a, b)


@keras.saving.register_keras_serializable(package="tf_qops")
class Modulo(PlainLayer):
    """Takes remainders (ONNX Mod, versions 10 and 13).

    Args:
        truncate: the remainder has the sign of a (C's fmod), not of b.
        **kwargs: those of `keras.layers.Layer`.

    Input: a and b of one dtype, broadcast together. Output: the same dtype.

    Example:

    >>> [Modulo(t)(tf.constant(-7), tf.constant(4)).numpy().item() for t in (False, True)]
    [1, -3]
    """

    def __init__(self, truncate: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.truncate = truncate

    def call(self, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        """Returns the remainder."""
        wide = a.dtype if a.dtype in (tf.float32, tf.float64) else tf.float32
        wide = wide if a.dtype.is_floating else tf.int64
        mod = tf.truncatemod if self.truncate else tf.math.floormod
        return tf.cast(mod(tf.cast(a, wide), tf.cast(b, wide)), a.dtype)
