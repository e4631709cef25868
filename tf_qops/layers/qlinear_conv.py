"""QLinearConv as a layer: convolution of integers in integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers import _from_float
from tf_qops.layers._base import format_parameters
from tf_qops.layers._convolution import IntegerConvolution
from tf_qops.ops import qlinear


class QLinearConv(IntegerConvolution):
    """Base of the quantized convolutions; a subclass says its number of spatial dimensions."""

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str | Sequence[int] = "valid",
        dilation_rate: int | Sequence[int] = 1,
        groups: int = 1,
        use_bias: bool = True,
        data_format: str | None = None,
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
        parameters = format_parameters(
            x_scale, x_zero_point, w_scale, w_zero_point, y_scale, y_zero_point, output_dtype
        )
        super().__init__(
            parameters,
            "int32",
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
        self.output_dtype = parameters["y_zero_point"].dtype.name

    @classmethod
    def from_float(
        cls,
        layer: keras.layers.Layer,
        x_scale: Any,
        x_zero_point: Any,
        y_scale: Any,
        y_zero_point: Any,
        per_channel: bool = True,
        weight_dtype: str = "int8",
        **kwargs: Any,
    ) -> QLinearConv:
        """Quantizes a built Keras convolution, with weights symmetric around their zero point.

        A filter's w_scale is its largest magnitude / 127, and at least such that its bias takes
        30 bits; its codes are `round_half_to_even(w / w_scale)`, plus 128 in uint8. The bias
        becomes int32 in units of x_scale * w_scale, half to even.

        Args:
            layer: Conv or DepthwiseConv of the same rank. Its activation must be linear, or relu
                where y_zero_point is the lowest code of the output, which then cuts at 0.
            x_scale: of the input: a scalar.
            x_zero_point: of the input; a Python number is uint8.
            y_scale: of the output: a scalar.
            y_zero_point: of the output; a Python number is `output_dtype`, uint8 without it.
            per_channel: whether each filter has a scale of its own.
            weight_dtype: "int8" or "uint8".
            **kwargs: further arguments of the new layer; its name is that of the old one.

        Returns:
            The new layer, built.

        Raises:
            TypeError: another kind of layer.
            ValueError: an activation that integers do not imply, or a layer that is not built.

        Example:

        >>> layer = keras.layers.Conv2D(1, 1, kernel_initializer="ones")
        >>> layer.build((None, 2, 2, 1))
        >>> quantized = QLinearConv2D.from_float(layer, 0.5, 0, 0.5, 10)
        >>> quantized.kernel.numpy().ravel().tolist(), float(quantized.w_scale[0])
        ([127], 0.007874015718698502)
        >>> quantized(tf.constant([[[[1], [7]]]], tf.uint8)).numpy().ravel().tolist()
        [11, 17]
        """
        arguments = _from_float.convolution(cls.rank, layer)
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
        quantized.build_with(weights.kernel, weights.bias)
        return quantized

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the convolution of x, in the output's integers."""
        return qlinear.qlinear_conv(
            x,
            self.tensor("x_scale"),
            self.tensor("x_zero_point"),
            self.tensor("kernel"),
            self.tensor("w_scale"),
            self.tensor("w_zero_point"),
            self.tensor("y_scale"),
            self.tensor("y_zero_point"),
            bias=self.tensor("bias"),
            **self.attributes(),
        )

    def input_dtype_for_shapes(self) -> str:
        """Returns the dtype of x_zero_point."""
        return self.x_zero_point.dtype

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {"output_dtype": self.output_dtype}


@keras.saving.register_keras_serializable(package="tf_qops")
class QLinearConv1D(QLinearConv):
    """One-dimensional convolution in integers; arguments and weights as `QLinearConv2D` has them.

    Input: int8 or uint8 [n, length, c] or [n, c, length]. Output: likewise, as Conv1D shapes it.

    Example:

    >>> layer = QLinearConv1D(1, 2, x_scale=0.5, w_scale=0.5, y_scale=0.25)
    >>> layer.build((None, 3, 1))
    >>> layer.assign(kernel=np.ones((1, 1, 2), np.int8))
    >>> layer(tf.constant([[[1], [2], [3]]], tf.uint8)).numpy().ravel().tolist()
    [3, 5]
    """

    rank = 1


@keras.saving.register_keras_serializable(package="tf_qops")
class QLinearConv2D(QLinearConv):
    """Two-dimensional convolution in integers, bit for bit as `tf_qops.qlinear_conv`.

    ONNX QLinearConv (version 10). The weights, none of them trainable, are in this order: `kernel`
    in ONNX's layout [filters, channels / groups, kh, kw] whatever `data_format` is, `bias` int32
    [filters] in units of x_scale * w_scale, then the scales and zero points. Kernel and bias start
    as zeros: set them with `assign(kernel=array, bias=array)`.

    Args:
        filters: the number of output channels.
        kernel_size, strides, dilation_rate: a number, or two.
        padding: "valid", "same" (the odd pixel goes to the end), "same_lower" (to the start), or
            ONNX's numbers, first all begins, then all ends: [top, left, bottom, right].
        groups: channels and filters are split into so many independent parts.
        use_bias: whether there is a bias.
        data_format: "channels_last" or "channels_first"; None is Keras's default.
        x_scale, x_zero_point: of the input: scalars.
        w_scale, w_zero_point: of the kernel: scalars or [filters].
        y_scale, y_zero_point: of the output: scalars.
        output_dtype: "int8" or "uint8"; None takes y_zero_point's, uint8 for a Python number.
        **kwargs: those of `keras.layers.Layer`.

    Scales are float32. A zero point given as a Python number has the dtype of the input, of the
    kernel (int8) or of the output; arrays keep their own, and w_zero_point's is the kernel's.

    Input: int8 or uint8 [n, h, w, c] or [n, c, h, w]. Output: int8 or uint8, as Conv2D shapes it.

    Raises:
        ValueError: an argument out of its range, or an unknown number of channels.

    Example:

    >>> layer = QLinearConv2D(1, 1, x_scale=0.5, w_scale=0.5, y_scale=0.25, y_zero_point=10)
    >>> x = tf.constant([[[[1], [2]], [[3], [4]]]], tf.uint8)
    >>> layer.build(x.shape)
    >>> layer.assign(kernel=np.full((1, 1, 1, 1), 2, np.int8))
    >>> layer(x).numpy().ravel().tolist()
    [12, 14, 16, 18]
    """

    rank = 2


@keras.saving.register_keras_serializable(package="tf_qops")
class QLinearConv3D(QLinearConv):
    """Three-dimensional convolution in integers; arguments and weights as for `QLinearConv2D`.

    Input: int8 or uint8 [n, d, h, w, c] or [n, c, d, h, w]. Output: likewise, as Conv3D shapes it.

    Example:

    >>> layer = QLinearConv3D(1, 2, x_scale=0.5, w_scale=0.5, y_scale=0.25)
    >>> layer.build((None, 2, 2, 2, 1))
    >>> layer.assign(kernel=np.ones((1, 1, 2, 2, 2), np.int8))
    >>> layer(tf.ones((1, 2, 2, 2, 1), tf.uint8)).numpy().ravel().tolist()
    [8]
    """

    rank = 3
