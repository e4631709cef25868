"""QuantizeLinear and DequantizeLinear as layers."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers import narrow
from tf_qops.layers._base import QuantizedLayer, scale_array, zero_point_array
from tf_qops.ops import linear


class _Linear(QuantizedLayer):
    """What both layers share: scale and zero point along an axis, as weights or as inputs."""

    def __init__(self, scale: Any, zero_point: Any, axis: int, block_size: int, **kwargs: Any):
        if scale is None and zero_point is not None:
            raise ValueError(
                "zero_point must be given in the call where scale is. "
                f"Received: scale=None, zero_point={zero_point!r}"
            )
        scale = None if scale is None else scale_array("scale", scale)
        super().__init__({"scale": scale, "zero_point": zero_point}, **kwargs)
        self.axis = axis
        self.block_size = block_size

    def build(self, x_shape: tuple[int | None, ...]) -> None:
        """Creates the weights scale and zero_point."""
        del x_shape
        self.add_parameters()

    def _parameters(
        self, scale: tf.Tensor | None, zero_point: tf.Tensor | None
    ) -> tuple[tf.Tensor, tf.Tensor | None]:
        """Returns the weights, or what the call was given where there are none."""
        if (scale is None) == (self.scale is None):
            raise ValueError(
                "scale must be given either to the layer or in the call. "
                f"Received: {'neither' if scale is None else 'both'}"
            )
        if scale is None:
            return self.tensor("scale"), self.tensor("zero_point")
        return scale, zero_point

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {"axis": self.axis, "block_size": self.block_size}


@keras.saving.register_keras_serializable(package="tf_qops")
class QuantizeLinear(_Linear):
    """Quantizes floats to integers: `saturate(round_half_to_even(x / scale) + zero_point)`.

    ONNX QuantizeLinear (versions 10 to 28), `tf_qops.quantize_linear`.

    Args:
        scale: number or array: scalar (per tensor), [d] along `axis`, or with `block_size` of the
            input's shape but ceil(d / block_size) along `axis`; float32, float16 or bfloat16. None
            if it is given in each call, `layer(x, scale, zero_point)`.
        zero_point: of scale's shape; Python numbers take `output_dtype`, None is zero.
        axis: the quantized dimension; Keras counts it from the end.
        block_size: 0, or how many neighbours along `axis` share a scale.
        output_dtype: "int8", "uint8", or what else `tf_qops.quantize_linear` can make. A zero
            point that has a dtype of its own must have this one.
        saturate: whether a value beyond a float8 type's range becomes its largest number.
        precision: float type to which the quotient is rounded; None is float32.
        **kwargs: those of `keras.layers.Layer`.

    Input: floats of any shape. Output: codes of the same shape. Types that Keras lacks are carried
    by wider ones: int4 and int2 by int8, uint4 and uint2 by uint8, float4 by float8_e4m3fn, the
    float8 types with "uz" by float32; the values are those of the narrow type.

    Raises:
        ValueError: scale is no float, or zero_point has another dtype than `output_dtype`.

    Example:

    >>> layer = QuantizeLinear(scale=0.5, zero_point=3, output_dtype="uint8")
    >>> layer(tf.constant([-1.0, 0.25, 200.0])).numpy().tolist()
    [1, 3, 255]
    """

    def __init__(
        self,
        scale: Any,
        zero_point: Any = None,
        axis: int = -1,
        block_size: int = 0,
        output_dtype: str = "int8",
        saturate: bool = True,
        precision: str | None = None,
        **kwargs: Any,
    ):
        output_dtype = tf.as_dtype(output_dtype).name
        zero_point = zero_point_array("zero_point", zero_point, output_dtype)
        if zero_point is not None and zero_point.dtype.name != output_dtype:
            raise ValueError(
                "zero_point must have the dtype of the output. "
                f"Received: zero_point of {zero_point.dtype}, output_dtype={output_dtype}"
            )
        super().__init__(scale, zero_point, axis, block_size, **kwargs)
        self.output_dtype = output_dtype
        self.saturate = saturate
        self.precision = precision

    def call(
        self, x: tf.Tensor, scale: tf.Tensor | None = None, zero_point: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Returns x in codes."""
        scale, zero_point = self._parameters(scale, zero_point)
        y = linear.quantize_linear(
            x,
            scale,
            narrow.restored(zero_point, self.output_dtype),
            axis=self.axis,
            block_size=self.block_size,
            output_dtype=self.output_dtype,
            saturate=self.saturate,
            precision=self.precision,
        )
        return narrow.carried(y)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "output_dtype": self.output_dtype,
            "saturate": self.saturate,
            "precision": self.precision,
        }


@keras.saving.register_keras_serializable(package="tf_qops")
class DequantizeLinear(_Linear):
    """Turns codes back into floats: `(x - zero_point) * scale`.

    ONNX DequantizeLinear (versions 10 to 28), `tf_qops.dequantize_linear`. The output has the
    layer's compute dtype: float32, or float16 under the policy "mixed_float16".

    Args:
        scale: number or array: scalar (per tensor), [d] along `axis`, or with `block_size` of the
            input's shape but ceil(d / block_size) along `axis`; float32, float16 or bfloat16. None
            if it is given in each call, `layer(x, scale, zero_point)`.
        zero_point: of scale's shape; Python numbers take the input's dtype, None is zero.
        axis: the quantized dimension; Keras counts it from the end.
        block_size: 0, or how many neighbours along `axis` share a scale.
        **kwargs: those of `keras.layers.Layer`.

    Input: int8, uint8, int16, uint16, int32 or float8 of any shape; narrower types as
    `QuantizeLinear` gives them. Output: floats of the same shape.

    Raises:
        ValueError: scale is no float; or the input is float32, which carries float8 types with
            "uz", and there is no zero point of such a type to tell which.

    Example:

    >>> layer = DequantizeLinear(scale=[0.5, 2.0], zero_point=[3, 0])
    >>> layer(tf.constant([[1, 10], [4, 20]], tf.uint8)).numpy().tolist()
    [[-1.0, 20.0], [0.5, 40.0]]
    """

    def __init__(
        self,
        scale: Any,
        zero_point: Any = None,
        axis: int = -1,
        block_size: int = 0,
        **kwargs: Any,
    ):
        zero_point = zero_point_array("zero_point", zero_point, None)
        super().__init__(scale, zero_point, axis, block_size, **kwargs)

    def call(
        self, x: tf.Tensor, scale: tf.Tensor | None = None, zero_point: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Returns x in floats."""
        scale, zero_point = self._parameters(scale, zero_point)
        if x.dtype == tf.float32:
            dtype = self.parameter_dtype("zero_point")
            if dtype is None or not (narrow.is_packed(dtype) and tf.as_dtype(dtype).is_floating):
                raise ValueError(
                    "x must hold codes; where float32 carries them, zero_point must have their "
                    f"dtype. Received: x of float32, zero_point of {dtype}"
                )
            x, zero_point = (narrow.restored(t, dtype) for t in (x, zero_point))
        return linear.dequantize_linear(
            x,
            scale,
            zero_point,
            axis=self.axis,
            block_size=self.block_size,
            output_dtype=self.compute_dtype,
        )

    def input_dtype_for_shapes(self) -> str:
        """Returns the dtype of the input, else what carries the zero point's."""
        return self._input_dtype or narrow.carrier(self.parameter_dtype("zero_point") or "uint8")
