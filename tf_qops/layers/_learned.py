"""Scales that training changes."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

# A thousandth of where it started: a scale stays positive whatever the learning rate.
_LEAST_FACTOR = 2.0**-10


@keras.saving.register_keras_serializable(package="tf_qops")
class AtLeast(keras.constraints.Constraint):
    """Keeps a weight from falling below a value.

    Args:
        minimum: that value.

    Example:

    >>> AtLeast(0.5)(np.float32([0.1, 2.0])).numpy().tolist()
    [0.5, 2.0]
    """

    def __init__(self, minimum: float):
        self.minimum = minimum

    def __call__(self, w: Any) -> tf.Tensor:
        """Returns the nearest allowed value."""
        return keras.ops.maximum(w, self.minimum)

    def get_config(self) -> dict[str, Any]:
        """Returns the constraint's arguments."""
        return {"minimum": self.minimum}


def add_factor(layer: keras.layers.Layer, shape: tuple[int, ...]) -> keras.Variable:
    """Returns a new trainable weight by which a scale is multiplied, 1 at the start.

    Optimizers that normalize gradients, as Adam does, move every weight by about the learning
    rate. A scale may be smaller than that; its factor changes by that share of it.
    """
    ones = np.ones(shape, np.float32)
    return layer.add_learned_weight("scale_factor", ones, AtLeast(_LEAST_FACTOR))


def times_factor(scale: tf.Tensor, factor: keras.Variable) -> tf.Tensor:
    """Returns a scale times its factor, of the scale's dtype."""
    return tf.cast(tf.cast(scale, tf.float32) * tf.convert_to_tensor(factor), scale.dtype)


def with_scaled_gradient(x: tf.Tensor, factor: float) -> tf.Tensor:
    """Returns x itself, whose gradient is multiplied by a number."""

    @tf.custom_gradient
    def run(x: tf.Tensor) -> tf.Tensor:
        return tf.identity(x), lambda dy: dy * tf.cast(factor, dy.dtype)

    return x if factor == 1 else run(x)


def lsq_factor(elements: int, quantized_dtype: str) -> float:
    """Returns LSQ's factor of a scale's gradient, `1 / sqrt(elements * highest code)`.

    Args:
        elements: that share the scale; of activations those of one example.
        quantized_dtype: of the codes.
    """
    return float((max(elements, 1) * float(tf.as_dtype(quantized_dtype).max)) ** -0.5)
