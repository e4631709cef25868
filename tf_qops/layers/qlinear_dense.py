"""A dense layer in integers."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops.layers import _from_float
from tf_qops.layers._base import QuantizedLayer, format_parameters
from tf_qops.ops import qlinear


@keras.saving.register_keras_serializable(package="tf_qops")
class QLinearDense(QuantizedLayer):
    """Multiplies codes with a matrix of codes and adds a bias, bit for bit as `tf_qops.qgemm`.

    com.microsoft QGemm (version 1) on the last dimension. The weights, none of them trainable, are
    in this order: `kernel` [inputs, units] as in Keras's Dense, `bias` int32 [units] in units of
    x_scale * w_scale, then the scales and zero points. Kernel and bias start as zeros: set them
    with `assign(kernel=array, bias=array)`.

    Args:
        units: the number of outputs.
        use_bias: whether there is a bias.
        x_scale, x_zero_point: of the input: scalars.
        w_scale, w_zero_point: of the kernel: scalars or [units].
        y_scale, y_zero_point: of the output: scalars.
        output_dtype: "int8" or "uint8"; None takes y_zero_point's, uint8 for a Python number.
        **kwargs: those of `keras.layers.Layer`.

    Scales are float32. A zero point given as a Python number has the dtype of the input, of the
    kernel (int8) or of the output; arrays keep their own, and w_zero_point's is the kernel's.

    Input: int8 or uint8 [..., inputs]. Output: int8 or uint8 [..., units].

    Raises:
        ValueError: an argument out of its range, or an unknown number of inputs.

    Example:

    >>> layer = QLinearDense(1, x_scale=0.5, w_scale=0.5, y_scale=0.25, y_zero_point=10)
    >>> layer.build((None, 2))
    >>> layer.assign(kernel=np.int8([[1], [-2]]), bias=np.int32([100]))
    >>> layer(tf.constant([[3, 4]], tf.uint8)).numpy().tolist()
    [[105]]
    """

    def __init__(
        self,
        units: int,
        use_bias: bool = True,
        *,
        x_scale: Any,
        x_zero_point: Any = 0,
        w_scale: Any,
        w_zero_point: Any = 0,
        y_scale: Any,
        y_zero_point: Any = 0,
        output_dtype: str | None = None,
        **kwargs: Any,
    ):
        if units < 1:
            raise ValueError(f"units must be positive. Received: units={units}")
        parameters = format_parameters(
            x_scale, x_zero_point, w_scale, w_zero_point, y_scale, y_zero_point, output_dtype
        )
        super().__init__(parameters, **kwargs)
        self.units = units
        self.use_bias = use_bias
        self.output_dtype = parameters["y_zero_point"].dtype.name
        self.input_spec = keras.layers.InputSpec(min_ndim=2)
        self.supports_jit = False
        self.kernel = None
        self.bias = None

    @classmethod
    def from_float(
        cls,
        layer: keras.layers.Dense,
        x_scale: Any,
        x_zero_point: Any,
        y_scale: Any,
        y_zero_point: Any,
        per_channel: bool = True,
        weight_dtype: str = "int8",
        **kwargs: Any,
    ) -> QLinearDense:
        """Quantizes a built Keras Dense, as `QLinearConv2D.from_float` does a convolution.

        Args:
            layer: its activation must be linear, or relu where y_zero_point is the lowest code of
                the output, which then cuts at 0.
            x_scale: of the input: a scalar.
            x_zero_point: of the input; a Python number is uint8.
            y_scale: of the output: a scalar.
            y_zero_point: of the output; a Python number is `output_dtype`, uint8 without it.
            per_channel: whether each unit has a scale of its own.
            weight_dtype: "int8" or "uint8".
            **kwargs: further arguments of the new layer; its name is that of the old one.

        Returns:
            The new layer, built.

        Raises:
            TypeError: another kind of layer.
            ValueError: an activation that integers do not imply, or a layer that is not built.

        Example:

        >>> layer = keras.layers.Dense(1, kernel_initializer="ones")
        >>> layer.build((None, 2))
        >>> quantized = QLinearDense.from_float(layer, 0.5, 0, 0.5, 10)
        >>> quantized(tf.constant([[1, 7]], tf.uint8)).numpy().tolist()
        [[18]]
        """
        arguments = _from_float.dense(layer)
        weights = _from_float.weights(layer, x_scale, per_channel, weight_dtype)
        quantized = cls(
            x_scale=x_scale,
            x_zero_point=x_zero_point,
            w_scale=weights.scale,
            w_zero_point=weights.zero_point,
            y_scale=y_scale,
            y_zero_point=y_zero_point,
            **arguments | kwargs,
        )
        _from_float.check_activation(layer, quantized._initial["y_zero_point"])
        quantized.build((None, weights.kernel.shape[1]))
        quantized.assign(kernel=weights.kernel.T)
        if quantized.use_bias:
            quantized.assign(bias=weights.bias)
        return quantized

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates kernel (int8 or uint8 zeros), bias (int32 zeros) and the parameters."""
        if input_shape[-1] is None:
            raise ValueError(
                f"The number of inputs must be known. Received: input_shape={input_shape}"
            )
        kernel_dtype = self._initial["w_zero_point"].dtype
        kernel = np.zeros((input_shape[-1], self.units), kernel_dtype)
        self.kernel = self.add_fixed_weight("kernel", kernel)
        if self.use_bias:
            self.bias = self.add_fixed_weight("bias", np.zeros(self.units, np.int32))
        self.add_parameters()

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the product, in the output's integers."""
        y = qlinear.qgemm(
            x if x.shape.rank == 2 else tf.reshape(x, [-1, self.kernel.shape[0]]),
            self.tensor("x_scale"),
            self.tensor("x_zero_point"),
            self.tensor("kernel"),
            self.tensor("w_scale"),
            self.tensor("w_zero_point"),
            self.tensor("bias"),
            self.tensor("y_scale"),
            self.tensor("y_zero_point"),
        )
        if x.shape.rank == 2:
            return y
        y = tf.reshape(y, tf.concat([tf.shape(x)[:-1], [self.units]], 0))
        y.set_shape([*x.shape[:-1], self.units])
        return y

    def input_dtype_for_shapes(self) -> str:
        """Returns the dtype of x_zero_point."""
        return self.x_zero_point.dtype

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "units": self.units,
            "use_bias": self.use_bias,
            "output_dtype": self.output_dtype,
        }
