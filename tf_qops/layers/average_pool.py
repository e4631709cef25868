"""Average pooling with ONNX's padding rules."""

from __future__ import annotations

import itertools
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers.max_pool import MaxPool


@keras.saving.register_keras_serializable(package="tf_qops")
class AveragePool(MaxPool):
    """Takes the mean of every window (ONNX AveragePool, versions 1 to 22).

    Args:
        *args: those of `MaxPool`.
        count_include_pad: padding counts as zeros, otherwise not at all.
        **kwargs: those of `MaxPool`.

    Input: floats [n, ..., c] or [n, c, ...]. Output: the same dtype and layout.

    Example:

    >>> layer = AveragePool((2,), pads=(1, 0), data_format="channels_last")
    >>> layer(tf.constant([[[4.0], [8.0]]])).numpy().ravel().tolist()
    [4.0, 6.0]
    """

    def __init__(self, *args: Any, count_include_pad: bool = False, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.count_include_pad = count_include_pad

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the means."""
        first = self.data_format == "channels_first"
        spatial = len(self.kernel_shape)
        if first:
            x = tf.transpose(x, [0, *range(2, spatial + 2), 1])
        lengths = keras.ops.shape(x)[1:-1]
        geometry = [self._geometry(i, n) for i, n in enumerate(lengths)]
        ones = tf.ones([1, *lengths, 1], x.dtype)
        pads = [(before, after) for before, after, _ in geometry]
        if self.count_include_pad and self.auto_pad == "NOTSET":
            given = list(zip(self.pads[:spatial], self.pads[spatial:], strict=True))
            ones = tf.pad(ones, [(0, 0), *given, (0, 0)], constant_values=1)
            rest = [(0, after - g[1]) for (_, after), g in zip(pads, given, strict=True)]
            ones = tf.pad(ones, [(0, 0), *rest, (0, 0)])
        elif self.count_include_pad:
            ones = tf.pad(ones, [(0, 0), *pads, (0, 0)], constant_values=1)
        else:
            ones = tf.pad(ones, [(0, 0), *pads, (0, 0)])
        x = tf.pad(x, [(0, 0), *pads, (0, 0)])
        windows = [n for _, _, n in geometry]
        y = self._sums(x, windows) / self._sums(ones, windows)
        return tf.transpose(y, [0, spatial + 1, *range(1, spatial + 1)]) if first else y

    def _sums(self, x: tf.Tensor, windows: list[Any]) -> tf.Tensor:
        """Adds one strided slice per place of the window."""
        result = None
        for place in itertools.product(*map(range, self.kernel_shape)):
            index = [slice(None)]
            for dimension, (i, count) in enumerate(zip(place, windows, strict=True)):
                begin, stride = i * self.dilations[dimension], self.strides[dimension]
                index.append(slice(begin, begin + (count - 1) * stride + 1, stride))
            part = x[tuple(index)]
            result = part if result is None else result + part
        return result

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {"count_include_pad": self.count_include_pad}
