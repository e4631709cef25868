"""Keras's convolutions and Dense with fake-quantized weights."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops.layers import _learned
from tf_qops.layers.fake_quantize import FakeQuantizeLinear

_BITS = (2, 4, 8, 16)
_register = keras.saving.register_keras_serializable(package="tf_qops")


class QuantizeAware:
    """What stands before a Keras layer: its kernel goes through a FakeQuantizeLinear.

    Args:
        *args: those of the Keras layer.
        weight_bits: 2, 4, 8 or 16 bits of the kernel's codes, symmetric around 0, with a scale
            for each filter or unit.
        **kwargs: those of the Keras layer.

    Attributes:
        weight_quantizer: the FakeQuantizeLinear; its scales start at each filter's largest
            magnitude / highest code.

    Raises:
        ValueError: another number of bits.
    """

    def __init__(self, *args: Any, weight_bits: int = 8, **kwargs: Any):
        if weight_bits not in _BITS:
            raise ValueError(f"weight_bits must be one of {_BITS}. Received: {weight_bits}")
        # Weights are quantized in float32 whatever the compute dtype is.
        super().__init__(*args, **{"autocast": False} | kwargs)
        self.weight_bits = weight_bits
        self.weight_quantizer = None

    @classmethod
    def from_float(cls, layer: keras.layers.Layer, weight_bits: int = 8) -> QuantizeAware:
        """Returns the new layer, built, of a built Keras layer of the same kind."""
        new = cls(weight_bits=weight_bits, **layer.get_config())
        new.build(layer.get_build_config()["input_shape"])
        new.set_float_weights(*layer.get_weights())
        return new

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights and their quantizer."""
        super().build(input_shape)
        with tf.init_scope():
            scale = self._largest_scale()
        dtype = f"int{self.weight_bits}"
        self.weight_quantizer = FakeQuantizeLinear(
            scale,
            quantized_dtype=dtype,
            gradient_factor=_learned.lsq_factor(
                int(np.prod(self.kernel.shape)) // scale.size, dtype
            ),
            name="weight_quantizer",
            dtype="float32",
        )
        self.weight_quantizer.build(self._columns_shape())

    def set_float_weights(self, kernel: np.ndarray, bias: np.ndarray | None = None) -> None:
        """Assigns kernel and bias, and starts the scales anew."""
        self.kernel.assign(kernel)
        if bias is not None:
            self.bias.assign(bias)
        self.weight_quantizer.restart(self._largest_scale())

    def _columns_shape(self) -> tuple[int, ...]:
        """Returns the kernel's shape with all filters along the last dimension."""
        return tuple(self.kernel.shape)

    def _largest_scale(self) -> np.ndarray:
        """Returns the scales with which no weight is cut off."""
        kernel = np.abs(keras.ops.convert_to_numpy(self.kernel))
        largest = (
            kernel.reshape(self._columns_shape()).reshape(-1, self._columns_shape()[-1]).max(0)
        )
        scale = (largest / np.float32(2 ** (self.weight_bits - 1) - 1)).astype(np.float32)
        return np.where(scale < np.finfo(np.float32).tiny, np.float32(1), scale)

    def fake_quantized_kernel(self) -> tf.Tensor:
        """Returns the kernel as it is multiplied with, float32."""
        columns = keras.ops.reshape(self.kernel, self._columns_shape())
        return keras.ops.reshape(self.weight_quantizer(columns), self.kernel.shape)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Returns what the Keras layer does with the fake-quantized kernel."""
        dtype = self.compute_dtype
        y = self.multiply(
            keras.ops.cast(inputs, dtype), keras.ops.cast(self.fake_quantized_kernel(), dtype)
        )
        if self.use_bias:
            first = getattr(self, "data_format", None) == "channels_first"
            shape = (-1, *[1] * (len(y.shape) - 2)) if first else (-1,)
            y = keras.ops.add(y, keras.ops.reshape(keras.ops.cast(self.bias, dtype), shape))
        return y if self.activation is None else self.activation(y)

    def multiply(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Returns the convolution or product."""
        return self.convolution_op(x, kernel)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {"weight_bits": self.weight_bits}


class _Depthwise(QuantizeAware):
    """Filters that see one channel each: Keras has them in the last two dimensions."""

    def _columns_shape(self) -> tuple[int, ...]:
        *places, channels, multiplier = self.kernel.shape
        return (*places, channels * multiplier)

    def multiply(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Returns the convolution."""
        return keras.ops.depthwise_conv(
            x, kernel, self.strides, self.padding, self.data_format, self.dilation_rate
        )


@_register
class QuantizeAwareConv1D(QuantizeAware, keras.layers.Conv1D):
    """Conv1D with fake-quantized weights, see `QuantizeAwareDense`."""

    def multiply(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Returns the convolution; "causal" padding, which Keras knows in its own call only."""
        if self.padding != "causal":
            return super().multiply(x, kernel)
        widths = [(0, 0)] * 3
        place = 2 if self.data_format == "channels_first" else 1
        widths[place] = ((self.kernel_size[0] - 1) * self.dilation_rate[0], 0)
        return keras.ops.conv(
            keras.ops.pad(x, widths), kernel, self.strides[0], "valid", self.data_format,
            self.dilation_rate[0],
        )  # fmt: skip


@_register
class QuantizeAwareConv2D(QuantizeAware, keras.layers.Conv2D):
    """Conv2D with fake-quantized weights, see `QuantizeAwareDense`."""


@_register
class QuantizeAwareDepthwiseConv1D(_Depthwise, keras.layers.DepthwiseConv1D):
    """DepthwiseConv1D with fake-quantized weights, see `QuantizeAwareDense`."""


@_register
class QuantizeAwareDepthwiseConv2D(_Depthwise, keras.layers.DepthwiseConv2D):
    """DepthwiseConv2D with fake-quantized weights, see `QuantizeAwareDense`."""


@_register
class QuantizeAwareDense(QuantizeAware, keras.layers.Dense):
    """Dense with fake-quantized weights.

    All arguments of the Keras layer, and `weight_bits`: 2, 4, 8 (default) or 16. The kernel and
    bias are floats, as in Keras; the layer multiplies with the kernel's nearest values that codes
    stand for, `fake_quantized_kernel()`. Kernel and bias are learned, and so is the scale of each
    filter or unit (see `FakeQuantizeLinear`).

    Example:

    >>> layer = QuantizeAwareDense(1, weight_bits=4)
    >>> layer.build((None, 3))
    >>> layer.set_float_weights(np.float32([[0.875], [0.3], [-0.1]]), np.float32([0]))
    >>> layer.fake_quantized_kernel().numpy().ravel().tolist()  # steps of 0.875 / 7
    [0.875, 0.25, -0.125]
    """

    def multiply(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Returns the product."""
        return keras.ops.matmul(x, kernel)
