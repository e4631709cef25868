"""Maximum pooling with ONNX's padding rules, on floats and integers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._base import OperatorLayer

_Length = int | tf.Tensor


@keras.saving.register_keras_serializable(package="tf_qops")
class MaxPool(OperatorLayer):
    """Takes the maximum of every window; padding never wins.

    ONNX MaxPool (versions 1 to 22), one output. Works on int8 and uint8 as on floats.

    Args:
        kernel_shape: the window, one length per spatial dimension (one to three).
        strides, dilations: one number per spatial dimension; None is 1.
        pads: ONNX order, first all begins, then all ends; None is 0.
        auto_pad: "NOTSET", "SAME_UPPER", "SAME_LOWER" or "VALID".
        ceil_mode: windows may reach beyond the end as long as they start before it.
        data_format: "channels_last" or "channels_first"; None is Keras's default.
        **kwargs: those of `keras.layers.Layer`.

    Input: [n, ..., c] or [n, c, ...]. Output: the same dtype and layout.

    Raises:
        ValueError: kernel_shape of another length than the input's spatial dimensions.

    Example:

    >>> layer = MaxPool((2,), strides=(2,), ceil_mode=True, data_format="channels_last")
    >>> layer(tf.constant([[[-3], [-1], [-2]]], tf.int8)).numpy().ravel().tolist()
    [-1, -2]
    """

    def __init__(
        self,
        kernel_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        auto_pad: str = "NOTSET",
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
        data_format: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        rank = len(kernel_shape)
        self.kernel_shape = tuple(kernel_shape)
        self.strides = tuple(strides or (1,) * rank)
        self.pads = tuple(pads or (0,) * (2 * rank))
        self.auto_pad = auto_pad
        self.dilations = tuple(dilations or (1,) * rank)
        self.ceil_mode = ceil_mode
        self.data_format = data_format or keras.config.image_data_format()
        self.input_spec = keras.layers.InputSpec(ndim=rank + 2)

    def _geometry(self, dimension: int, length: _Length) -> tuple[_Length, _Length, _Length]:
        """Returns padding before and after, and the number of windows, of one dimension."""
        stride = self.strides[dimension]
        reach = (self.kernel_shape[dimension] - 1) * self.dilations[dimension] + 1
        if self.auto_pad.startswith("SAME"):
            windows = -(-length // stride)
            total = _maximum((windows - 1) * stride + reach - length, 0)
            lower = total // 2 if self.auto_pad == "SAME_UPPER" else total - total // 2
            return lower, total - lower, windows
        before, after = self.pads[dimension], self.pads[dimension + len(self.kernel_shape)]
        free = length + before + after - reach
        if not self.ceil_mode:
            return before, after, free // stride + 1
        windows = _minimum(-(-free // stride) + 1, -(-(length + before) // stride))
        return before, _maximum((windows - 1) * stride + reach - length - before, after), windows

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the maxima."""
        first = self.data_format == "channels_first"
        spatial = len(self.kernel_shape)
        if first:
            x = tf.transpose(x, [0, *range(2, spatial + 2), 1])
        geometry = [self._geometry(i, n) for i, n in enumerate(keras.ops.shape(x)[1:-1])]
        paddings = [[0, 0], *([before, after] for before, after, _ in geometry), [0, 0]]
        if any(not isinstance(n, int) or n for pair in paddings for n in pair):
            lowest = -float("inf") if x.dtype.is_floating else x.dtype.min
            x = tf.pad(x, paddings, constant_values=tf.constant(lowest, x.dtype))
        if set(self.dilations) == {1} and spatial < 3:
            y = _pool_1d_or_2d(x, self.kernel_shape, self.strides)
        else:
            y = self._maximum_of_slices(x, [windows for _, _, windows in geometry])
        return tf.transpose(y, [0, spatial + 1, *range(1, spatial + 1)]) if first else y

    def _maximum_of_slices(self, x: tf.Tensor, windows: Sequence[_Length]) -> tf.Tensor:
        """Pools padded x by comparing one strided slice per place of the window."""
        result = None
        for place in itertools.product(*map(range, self.kernel_shape)):
            index = [slice(None)]
            for dimension, (i, count) in enumerate(zip(place, windows, strict=True)):
                begin, stride = i * self.dilations[dimension], self.strides[dimension]
                index.append(slice(begin, begin + (count - 1) * stride + 1, stride))
            part = x[tuple(index)]
            result = part if result is None else tf.maximum(result, part)
        return result

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "kernel_shape": self.kernel_shape,
            "strides": self.strides,
            "pads": self.pads,
            "auto_pad": self.auto_pad,
            "dilations": self.dilations,
            "ceil_mode": self.ceil_mode,
            "data_format": self.data_format,
        }


def _pool_1d_or_2d(x: tf.Tensor, window: Sequence[int], strides: Sequence[int]) -> tf.Tensor:
    """Pools with TensorFlow's kernel, which takes integers in two dimensions only."""
    if len(window) == 2:
        return tf.nn.max_pool2d(x, window, strides, "VALID")
    flat = tf.expand_dims(x, 1)
    return tf.squeeze(tf.nn.max_pool2d(flat, (1, *window), (1, *strides), "VALID"), 1)


def _maximum(a: _Length, b: _Length) -> _Length:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else tf.maximum(a, b)


def _minimum(a: _Length, b: _Length) -> _Length:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else tf.minimum(a, b)
