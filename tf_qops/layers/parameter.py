"""A tensor of a model's own that training changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops.layers import _learned
from tf_qops.layers.constant import Constant


@keras.saving.register_keras_serializable(package="tf_qops")
class Parameter(Constant):
    """A `Constant` that is trainable: the weights of an imported model that is to be trained.

    Args:
        shape: of the tensor.
        value_dtype: of the tensor, floats.
        is_scale: whether it is learned as a scale: `value` stays as assigned and is multiplied by
            the trainable weight `scale_factor`, as in `FakeQuantizeLinear`.
        initializer: the name of the constant in the ONNX file that it stands for.
        **kwargs: those of `keras.layers.Layer`.

    Input: any tensor, only to place the layer in a graph. Output: the tensor's current value
    (zeros until `assign(value=array)` sets it).

    Example:

    >>> layer = Parameter((2,))
    >>> layer.build(None)
    >>> layer.assign(value=np.float32([1, -2]))
    >>> layer(tf.zeros(())).numpy().tolist(), len(layer.trainable_weights)
    ([1.0, -2.0], 1)
    """

    def __init__(
        self,
        shape: Sequence[int],
        value_dtype: str = "float32",
        is_scale: bool = False,
        initializer: str = "",
        **kwargs: Any,
    ):
        super().__init__(shape, value_dtype, **kwargs)
        self.is_scale = is_scale
        self.initializer = initializer
        self.scale_factor = None

    def build(self, input_shape: tuple[int | None, ...] | None) -> None:
        """Creates the weights."""
        if self.is_scale:
            super().build(input_shape)
            self.scale_factor = _learned.add_factor(self, self.shape)
            return
        dtype = tf.as_dtype(self.value_dtype).as_numpy_dtype
        self.value = self.add_learned_weight("value", np.zeros(self.shape, dtype))

    def tensor(self, name: str) -> tf.Tensor | None:
        """Returns a weight's current value; of a scale the product with its factor."""
        value = super().tensor(name)
        if name == "value" and self.is_scale:
            return _learned.times_factor(value, self.scale_factor)
        return value

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "is_scale": self.is_scale,
            "initializer": self.initializer,
        }
