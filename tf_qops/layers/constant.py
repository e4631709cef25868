"""A constant tensor that is stored with the model's weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops.layers._base import OperatorLayer


@keras.saving.register_keras_serializable(package="tf_qops")
class Constant(OperatorLayer):
    """Returns its weight, whatever its input is.

    A Keras graph has no constants: numbers put into it are written out as text when it is saved.
    This layer keeps them with the weights, in their own type and size: two 4-bit or four 2-bit
    values take a byte.

    Args:
        shape: of the constant.
        value_dtype: of the constant.
        **kwargs: those of `keras.layers.Layer`.

    Input: any tensor, only to place the layer in a graph. Output: the constant (zeros until
    `assign(value=array)` sets it), carried by a wider type where Keras lacks its own, as
    `QuantizeLinear` says.

    Example:

    >>> layer = Constant((3,), "int4")
    >>> layer.build(None)
    >>> layer.assign(value=np.array([1, -2, 7], "int4"))
    >>> layer(tf.zeros(())).numpy().tolist()
    [1, -2, 7]
    >>> layer.value.numpy().tolist()
    [225, 7]
    """

    def __init__(self, shape: Sequence[int], value_dtype: str, **kwargs: Any):
        super().__init__(**kwargs)
        self.shape = tuple(shape)
        self.value_dtype = value_dtype
        self.value = None

    def build(self, input_shape: tuple[int | None, ...] | None) -> None:
        """Creates the weight."""
        del input_shape
        dtype = tf.as_dtype(self.value_dtype).as_numpy_dtype
        self.value = self.add_fixed_weight("value", np.zeros(self.shape, dtype))

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the constant."""
        del x
        return self.tensor("value")

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {"shape": self.shape, "value_dtype": self.value_dtype}
