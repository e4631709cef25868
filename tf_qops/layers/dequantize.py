"""TensorFlow's Dequantize as a layer."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._base import QuantizedLayer, scale_array
from tf_qops.ops import dequantize

_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


@keras.saving.register_keras_serializable(package="tf_qops")
class Dequantize(QuantizedLayer):
    """Maps codes onto a range of floats, in the three modes of `tf.quantization.dequantize`.

    `tf_qops.dequantize`, which has the formulas. The output has the layer's compute dtype.

    Args:
        min_range: the value of the lowest code: a scalar or, with an axis, [d]; float32.
        max_range: the value of the highest code, likewise.
        mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
        axis: the dimension along which ranges differ, negative from the end; None for one range.
        narrow_range: whether the lowest code of a signed type is unused; matters in mode SCALED.
        **kwargs: those of `keras.layers.Layer`.

    Input: int8, uint8, int16, uint16 or int32 of any shape. TensorFlow's quantized types (qint8
    and so on) are taken too where a tensor is passed; Keras has no symbolic tensors of them.
    Output: floats of the same shape.

    Raises:
        ValueError: an unknown mode, or a range that is no float.

    Example:

    >>> layer = Dequantize(0.0, 6.0)
    >>> layer(tf.constant([0, 128, 255], tf.uint8)).numpy().tolist()
    [0.0, 3.0117647647857666, 6.0]
    """

    def __init__(
        self,
        min_range: Any,
        max_range: Any,
        mode: str = "MIN_COMBINED",
        axis: int | None = None,
        narrow_range: bool = False,
        **kwargs: Any,
    ):
        if mode not in _MODES:
            raise ValueError(f"mode must be one of {_MODES}. Received: mode={mode!r}")
        ranges = {
            "min_range": scale_array("min_range", min_range),
            "max_range": scale_array("max_range", max_range),
        }
        super().__init__(ranges, **kwargs)
        self.mode = mode
        self.axis = axis
        self.narrow_range = narrow_range

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights min_range and max_range."""
        del input_shape
        self.add_parameters()

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x in floats."""
        return dequantize.dequantize(
            x,
            self.tensor("min_range"),
            self.tensor("max_range"),
            mode=self.mode,
            axis=self.axis,
            narrow_range=self.narrow_range,
            dtype=self.compute_dtype,
        )

    def input_dtype_for_shapes(self) -> str:
        """Returns the dtype of the input, else one that `call` accepts."""
        return self._input_dtype or "uint8"

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "mode": self.mode,
            "axis": self.axis,
            "narrow_range": self.narrow_range,
        }
