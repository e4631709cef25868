"""Layers of floats whose kernels are integers: the input is quantized over its own range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops.layers import _from_float
from tf_qops.layers._base import QuantizedLayer, scale_array, zero_point_array
from tf_qops.layers._convolution import IntegerConvolution
from tf_qops.ops import integer, linear


def _kernel_parameters(w_scale: Any, w_zero_point: Any) -> dict[str, np.ndarray]:
    """Returns scale and zero point of a kernel as arrays."""
    return {
        "w_scale": scale_array("w_scale", w_scale),
        "w_zero_point": zero_point_array("w_zero_point", w_zero_point, "int8"),
    }


@keras.saving.register_keras_serializable(package="tf_qops")
class DynamicDense(QuantizedLayer):
    """Multiplies floats with a matrix of codes, bit for bit as `tf_qops.dynamic_quantize_matmul`.

    The whole input, all of a batch together, is quantized to uint8 over its own range, so needs no
    calibration; the sums are exact integers. The weights, none of them trainable, are `kernel`
    [inputs, units] as in Keras's Dense, `bias` float32 [units], w_scale and w_zero_point. Kernel
    and bias start as zeros: set them with `assign(kernel=array, bias=array)`.

    Args:
        units: the number of outputs.
        activation: as Keras's Dense has it; on the float result.
        use_bias: whether there is a bias.
        w_scale: of the kernel: float32, a scalar or [units].
        w_zero_point: of the kernel, likewise: int8 or uint8, which is the kernel's dtype; a
            Python number is int8.
        **kwargs: those of `keras.layers.Layer`.

    Input: floats [..., inputs]; computed in float32. Output: [..., units] in the compute dtype.

    Raises:
        ValueError: an argument out of its range, or an unknown number of inputs.

    Example:

    >>> layer = DynamicDense(1, w_scale=0.5)
    >>> layer.build((None, 2))
    >>> layer.assign(kernel=np.int8([[7], [2]]), bias=np.float32([1]))
    >>> layer(tf.constant([[0.0, 255.0]])).numpy().tolist()
    [[256.0]]
    """

    def __init__(
        self,
        units: int,
        activation: str | Callable[[Any], Any] | None = None,
        use_bias: bool = True,
        *,
        w_scale: Any,
        w_zero_point: Any = 0,
        **kwargs: Any,
    ):
        if units < 1:
            raise ValueError(f"units must be positive. Received: units={units}")
        super().__init__(_kernel_parameters(w_scale, w_zero_point), **kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)
        self.use_bias = use_bias
        self.input_spec = keras.layers.InputSpec(min_ndim=2)
        self.supports_jit = False
        self.kernel = None
        self.bias = None

    @classmethod
    def from_float(
        cls,
        layer: keras.layers.Dense,
        per_channel: bool = True,
        weight_dtype: str = "int8",
        **kwargs: Any,
    ) -> DynamicDense:
        """Quantizes the kernel of a built Keras Dense; bias and activation stay.

        A unit's w_scale is its largest magnitude / 127; its codes are
        `round_half_to_even(w / w_scale)`, plus 128 in uint8.

        Args:
            layer: a Dense.
            per_channel: whether each unit has a scale of its own.
            weight_dtype: "int8" or "uint8".
            **kwargs: further arguments of the new layer; its name is that of the old one.

        Returns:
            The new layer, built.

        Raises:
            TypeError: another kind of layer.
            ValueError: a layer that is not built, or another weight_dtype.

        Example:

        >>> layer = keras.layers.Dense(1, kernel_initializer="ones")
        >>> layer.build((None, 2))
        >>> DynamicDense.from_float(layer).kernel.numpy().tolist()
        [[127], [127]]
        """
        arguments = _from_float.dense(layer) | {"activation": layer.activation}
        weights = _from_float.weights(layer, None, per_channel, weight_dtype)
        quantized = cls(
            w_scale=weights.scale, w_zero_point=weights.zero_point, **arguments | kwargs
        )
        quantized.build((None, weights.kernel.shape[1]))
        quantized.assign(kernel=weights.kernel.T)
        if quantized.use_bias:
            quantized.assign(bias=weights.bias)
        return quantized

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates kernel (int8 or uint8 zeros), bias (float32 zeros) and the parameters."""
        if input_shape[-1] is None:
            raise ValueError(
                f"The number of inputs must be known. Received: input_shape={input_shape}"
            )
        kernel_dtype = self._initial["w_zero_point"].dtype
        kernel = np.zeros((input_shape[-1], self.units), kernel_dtype)
        self.kernel = self.add_fixed_weight("kernel", kernel)
        if self.use_bias:
            self.bias = self.add_fixed_weight("bias", np.zeros(self.units, np.float32))
        self.add_parameters()

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the product, in floats."""
        y = integer.dynamic_quantize_matmul(
            tf.cast(x, tf.float32),
            self.tensor("kernel"),
            self.tensor("w_scale"),
            self.tensor("w_zero_point"),
            self.tensor("bias"),
        )
        return self.activation(tf.cast(y, self.compute_dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
        }


class DynamicConv(IntegerConvolution):
    """Base of the convolutions of floats with integer kernels."""

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str | Sequence[int] = "valid",
        dilation_rate: int | Sequence[int] = 1,
        groups: int = 1,
        activation: str | Callable[[Any], Any] | None = None,
        use_bias: bool = True,
        data_format: str | None = None,
        *,
        w_scale: Any,
        w_zero_point: Any = 0,
        **kwargs: Any,
    ):
        super().__init__(
            _kernel_parameters(w_scale, w_zero_point),
            "float32",
            filters,
            kernel_size,
            strides,
            padding,
            dilation_rate,
            groups,
            use_bias,
            data_format,
            **kwargs,
        )
        self.activation = keras.activations.get(activation)

    @classmethod
    def from_float(
        cls,
        layer: keras.layers.Layer,
        per_channel: bool = True,
        weight_dtype: str = "int8",
        **kwargs: Any,
    ) -> DynamicConv:
        """Quantizes the kernel of a built Keras convolution; bias and activation stay.

        Args:
            layer: Conv or DepthwiseConv of the same rank.
            per_channel: whether each filter has a scale of its own, largest magnitude / 127.
            weight_dtype: "int8" or "uint8".
            **kwargs: further arguments of the new layer; its name is that of the old one.

        Returns:
            The new layer, built.

        Raises:
            TypeError: another kind of layer.
            ValueError: a layer that is not built, or another weight_dtype.

        Example:

        >>> layer = keras.layers.Conv1D(1, 2, kernel_initializer="ones")
        >>> layer.build((None, 3, 1))
        >>> DynamicConv1D.from_float(layer).kernel.numpy().tolist()
        [[[127, 127]]]
        """
        arguments = _from_float.convolution(cls.rank, layer) | {"activation": layer.activation}
        weights = _from_float.weights(layer, None, per_channel, weight_dtype)
        quantized = cls(
            w_scale=weights.scale, w_zero_point=weights.zero_point, **arguments | kwargs
        )
        quantized.build_with(weights.kernel, weights.bias)
        return quantized

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the convolution of x, in floats."""
        codes, x_scale, x_zero_point = linear.dynamic_quantize_linear(tf.cast(x, tf.float32))
        sums = integer.conv_integer(
            codes,
            self.tensor("kernel"),
            x_zero_point,
            self.tensor("w_zero_point"),
            **self.attributes(),
        )
        y = tf.cast(sums, tf.float32) * self._per_filter(x_scale * self.tensor("w_scale"))
        if self.use_bias:
            y += self._per_filter(self.tensor("bias"))
        return self.activation(tf.cast(y, self.compute_dtype))

    def _per_filter(self, values: tf.Tensor) -> tf.Tensor:
        """Returns a scalar or [filters] in a shape that broadcasts to the output."""
        if values.shape.rank == 0 or self.data_format == "channels_last":
            return values
        return tf.reshape(values, [-1] + [1] * self.rank)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        activation = keras.activations.serialize(self.activation)
        return super().get_config() | {"activation": activation}


@keras.saving.register_keras_serializable(package="tf_qops")
class DynamicConv1D(DynamicConv):
    """One-dimensional convolution of floats; arguments and weights as `DynamicConv2D` has them.

    Input: floats [n, length, c] or [n, c, length]. Output: likewise, as Conv1D shapes it.

    Example:

    >>> layer = DynamicConv1D(1, 2, w_scale=0.5, data_format="channels_last")
    >>> layer.build((None, 3, 1))
    >>> layer.assign(kernel=np.int8([[[1, 2]]]))
    >>> layer(tf.constant([[[0.0], [1.0], [255.0]]])).numpy().ravel().tolist()
    [1.0, 255.5]
    """

    rank = 1


@keras.saving.register_keras_serializable(package="tf_qops")
class DynamicConv2D(DynamicConv):
    """Two-dimensional convolution of floats with a kernel of integers.

    The whole input, all of a batch together, is quantized to uint8 as
    `tf_qops.dynamic_quantize_linear` does it and convolved by `tf_qops.conv_integer`; the result is
    `float32(sums) * (x_scale * w_scale) + bias`, each operation rounded to float32. That is what
    ONNX Runtime's dynamic quantization writes. The weights, none of them trainable, are `kernel` in
    ONNX's layout [filters, channels / groups, kh, kw] whatever `data_format` is, `bias` float32
    [filters], w_scale and w_zero_point. Kernel and bias start as zeros: set them with
    `assign(kernel=array, bias=array)`.

    Args:
        filters, kernel_size, strides, padding, dilation_rate, groups, use_bias, data_format: as
            `QLinearConv2D` has them.
        activation: as Keras's Conv2D has it; on the float result.
        w_scale: of the kernel: float32, a scalar or [filters].
        w_zero_point: of the kernel, likewise: int8 or uint8, which is the kernel's dtype; a
            Python number is int8.
        **kwargs: those of `keras.layers.Layer`.

    Input: floats [n, h, w, c] or [n, c, h, w]; computed in float32. Output: floats in the compute
    dtype, as Conv2D shapes it.

    Raises:
        ValueError: an argument out of its range, or an unknown number of channels.

    Example:

    >>> layer = DynamicConv2D(1, 1, w_scale=0.5, data_format="channels_last")
    >>> layer.build((None, 1, 2, 1))
    >>> layer.assign(kernel=np.full((1, 1, 1, 1), 2, np.int8), bias=np.float32([1]))
    >>> layer(tf.constant([[[[0.0], [255.0]]]])).numpy().ravel().tolist()
    [1.0, 256.0]
    """

    rank = 2


@keras.saving.register_keras_serializable(package="tf_qops")
class DynamicConv3D(DynamicConv):
    """Three-dimensional convolution of floats; arguments and weights as `DynamicConv2D` has them.

    Input: floats [n, d, h, w, c] or [n, c, d, h, w]. Output: likewise, as Conv3D shapes it.

    Example:

    >>> layer = DynamicConv3D(1, 2, w_scale=0.5, data_format="channels_last")
    >>> layer.build((None, 2, 2, 2, 1))
    >>> layer.assign(kernel=np.ones((1, 1, 2, 2, 2), np.int8))
    >>> layer(tf.fill((1, 2, 2, 2, 1), 255.0)).numpy().ravel().tolist()
    [1020.0]
    """

    rank = 3
