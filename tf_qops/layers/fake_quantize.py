"""Quantization with gradients, as a layer."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops.layers import _learned, narrow
from tf_qops.layers._base import as_array
from tf_qops.layers.linear import _Linear
from tf_qops.ops.fake_quantize import fake_quantize_linear


@keras.saving.register_keras_serializable(package="tf_qops")
class FakeQuantizeLinear(_Linear):
    """Quantizes and dequantizes; learns the scale, and the zero point where it is real-valued.

    `tf_qops.fake_quantize_linear`: the values are those of QuantizeLinear and DequantizeLinear,
    gradients pass. The scale in use is `scale * scale_factor`: `scale` is fixed as given and the
    trainable weight `scale_factor` starts at 1, so that a learning rate means a share of the scale.
    `tensor("scale")` returns the product.

    Args:
        scale: number or array: scalar (per tensor), [d] along `axis`, or with `block_size` of the
            input's shape but ceil(d / block_size) along `axis`; float32, float16 or bfloat16. None
            if it is given in each call, `layer(x, scale, zero_point)`.
        zero_point: of scale's shape. Codes stay as they are (Python integers take
            `quantized_dtype`); floats are learned and rounded in use. None is zero.
        axis: the quantized dimension; Keras counts it from the end.
        block_size: 0, or how many neighbours along `axis` share a scale.
        quantized_dtype: "int8", "uint8", or what else `tf_qops.fake_quantize_linear` takes.
        gradient_factor: multiplies the gradient of the scale. LSQ has 1 / sqrt(n * highest code)
            where n elements share the scale; it makes SGD's steps fit, Adam's do without.
        **kwargs: those of `keras.layers.Layer`.

    Input: floats of any shape. Output: the same shape and dtype.

    Raises:
        ValueError: scale is no float, or zero_point has another dtype than `quantized_dtype`.

    Example:

    >>> layer = FakeQuantizeLinear(scale=0.5, zero_point=3, quantized_dtype="uint8")
    >>> layer(tf.constant([-9.0, 0.3, 200.0])).numpy().tolist()
    [-1.5, 0.5, 126.0]
    >>> [w.name for w in layer.trainable_weights]
    ['scale_factor']
    """

    def __init__(
        self,
        scale: Any,
        zero_point: Any = None,
        axis: int = -1,
        block_size: int = 0,
        quantized_dtype: str = "int8",
        gradient_factor: float = 1.0,
        **kwargs: Any,
    ):
        quantized_dtype = tf.as_dtype(quantized_dtype).name
        super().__init__(
            scale, _zero_point(zero_point, quantized_dtype), axis, block_size, **kwargs
        )
        self.quantized_dtype = quantized_dtype
        self.gradient_factor = gradient_factor
        self.scale_factor = None

    def build(self, x_shape: tuple[int | None, ...]) -> None:
        """Creates the weights."""
        super().build(x_shape)
        if self.scale is not None:
            self.scale_factor = _learned.add_factor(self, tuple(self.scale.shape))

    def add_fixed_weight(self, name: str, value: np.ndarray) -> keras.Variable:
        """Returns a new weight; a zero point of floats is trainable."""
        if name == "zero_point" and tf.as_dtype(value.dtype).is_floating:
            return self.add_learned_weight(name, value)
        return super().add_fixed_weight(name, value)

    def tensor(self, name: str) -> tf.Tensor | None:
        """Returns a parameter's current value; of the scale the product with its factor."""
        value = super().tensor(name)
        if name == "scale" and value is not None:
            return _learned.times_factor(value, self.scale_factor)
        return value

    def restart(self, scale: np.ndarray) -> None:
        """Sets the scale of the built layer, and its factor to 1."""
        self.assign(scale=scale, scale_factor=np.ones(scale.shape, np.float32))

    def call(
        self, x: tf.Tensor, scale: tf.Tensor | None = None, zero_point: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Returns the nearest values that codes stand for."""
        scale, zero_point = self._parameters(scale, zero_point)
        if zero_point is not None and not zero_point.dtype.is_floating:
            zero_point = narrow.restored(zero_point, self.quantized_dtype)
        return fake_quantize_linear(
            x,
            _learned.with_scaled_gradient(scale, self.gradient_factor),
            zero_point,
            axis=self.axis,
            block_size=self.block_size,
            quantized_dtype=self.quantized_dtype,
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments; the scale as it is now."""
        return super().get_config() | {
            "quantized_dtype": self.quantized_dtype,
            "gradient_factor": self.gradient_factor,
        }


def _zero_point(value: Any, quantized_dtype: str) -> np.ndarray | None:
    """Returns a zero point in codes, or in float32 where it is real-valued."""
    array = as_array("zero_point", value, None)
    if array is None:
        return None
    if array.dtype == np.float64:
        return array.astype(np.float32)
    array = as_array("zero_point", value, quantized_dtype)
    if array.dtype.name != quantized_dtype and not tf.as_dtype(array.dtype).is_floating:
        raise ValueError(
            "zero_point must have the dtype of the codes, or be real-valued. "
            f"Received: zero_point of {array.dtype}, quantized_dtype={quantized_dtype}"
        )
    return array
