"""QuantizeLinear and DequantizeLinear as layers."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._base import QuantizedLayer, scale_array, zero_point_array
from tf_qops.ops import linear


@keras.saving.register_keras_serializable(package="tf_qops")
class QuantizeLinear(QuantizedLayer):
    """Quantizes floats to integers: `saturate(round_half_to_even(x / scale) + zero_point)`.

    ONNX QuantizeLinear (versions 10 to 28), `tf_qops.quantize_linear`.

    Args:
        scale: number or array: scalar (per tensor) or [d] along `axis`, float32.
        zero_point: of scale's shape; Python numbers take `output_dtype`, None is zero.
        axis: the quantized dimension; Keras counts it from the end.
        block_size: 0, or how many neighbours along `axis` share a scale.
        output_dtype: "int8", "uint8", or what else `tf_qops.quantize_linear` can make. A zero
            point that has a dtype of its own must have this one.
        **kwargs: those of `keras.layers.Layer`.

    Input: floats of any shape. Output: integers of the same shape.

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
        **kwargs: Any,
    ):
        output_dtype = tf.as_dtype(output_dtype).name
        zero_point = zero_point_array("zero_point", zero_point, output_dtype)
        if zero_point is not None and zero_point.dtype.name != output_dtype:
            raise ValueError(
                "zero_point must have the dtype of the output. "
                f"Received: zero_point of {zero_point.dtype}, output_dtype={output_dtype}"
            )
        parameters = {"scale": scale_array("scale", scale), "zero_point": zero_point}
        super().__init__(parameters, **kwargs)
        self.output_dtype = output_dtype
        self.axis = axis
        self.block_size = block_size

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights scale and zero_point."""
        del input_shape
        self.add_parameters()

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x in integers."""
        return linear.quantize_linear(
            x,
            self.tensor("scale"),
            self.tensor("zero_point"),
            axis=self.axis,
            block_size=self.block_size,
            output_dtype=self.output_dtype,
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "axis": self.axis,
            "block_size": self.block_size,
            "output_dtype": self.output_dtype,
        }


@keras.saving.register_keras_serializable(package="tf_qops")
class DequantizeLinear(QuantizedLayer):
    """Turns integers back into floats: `(x - zero_point) * scale`.

    ONNX DequantizeLinear (versions 10 to 28), `tf_qops.dequantize_linear`. The output has the
    layer's compute dtype: float32, or float16 under the policy "mixed_float16".

    Args:
        scale: number or array: scalar (per tensor) or [d] along `axis`, float32.
        zero_point: of scale's shape; Python numbers take the input's dtype, None is zero.
        axis: the quantized dimension; Keras counts it from the end.
        block_size: 0, or how many neighbours along `axis` share a scale.
        **kwargs: those of `keras.layers.Layer`.

    Input: int8, uint8 or int32 of any shape. Output: floats of the same shape.

    Raises:
        ValueError: scale is no float.

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
        parameters = {
            "scale": scale_array("scale", scale),
            "zero_point": zero_point_array("zero_point", zero_point, None),
        }
        super().__init__(parameters, **kwargs)
        self.axis = axis
        self.block_size = block_size

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights scale and zero_point."""
        del input_shape
        self.add_parameters()

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x in floats."""
        return linear.dequantize_linear(
            x,
            self.tensor("scale"),
            self.tensor("zero_point"),
            axis=self.axis,
            block_size=self.block_size,
            output_dtype=self.compute_dtype,
        )

    def input_dtype_for_shapes(self) -> str:
        """Returns the dtype of the zero point."""
        return "uint8" if self.zero_point is None else self.zero_point.dtype

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {"axis": self.axis, "block_size": self.block_size}
