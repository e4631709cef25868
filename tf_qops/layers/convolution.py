"""Float convolutions with ONNX's padding, whose filters are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer


class _Convolution(PlainLayer):
    """What convolutions and their transposes share.

    Args:
        strides, dilations: one number per spatial dimension.
        pads: ONNX order, first all begins, then all ends.
        auto_pad: "NOTSET", "SAME_UPPER", "SAME_LOWER" or "VALID".
        group: channels are split into so many groups.
        **kwargs: those of `keras.layers.Layer`.
    """

    def __init__(
        self,
        strides: Sequence[int],
        dilations: Sequence[int],
        pads: Sequence[int],
        auto_pad: str = "NOTSET",
        group: int = 1,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.strides = tuple(strides)
        self.dilations = tuple(dilations)
        self.pads = tuple(pads)
        self.auto_pad = auto_pad
        self.group = group

    def _reach(self, w: tf.Tensor, i: int) -> int:
        """Returns how far a filter reaches in a spatial dimension."""
        return (w.shape[i + 2] - 1) * self.dilations[i] + 1


@keras.saving.register_keras_serializable(package="tf_qops")
class Convolution(_Convolution):
    """Convolves floats, channels last (ONNX Conv, versions 1 to 22); filters are an input.

    Args:
        strides, dilations: one number per spatial dimension (one to three).
        pads: ONNX order, first all begins, then all ends.
        auto_pad: "NOTSET", "SAME_UPPER", "SAME_LOWER" or "VALID".
        group: channels are split into so many groups.
        **kwargs: those of `keras.layers.Layer`.

    Input: x [n, ..., c], w [m, c / group, k...] of static shape, optional bias [m]. Output:
    [n, ..., m].

    Example:

    >>> layer = Convolution((1,), (1,), (1, 1))
    >>> layer(tf.ones((1, 3, 1)), tf.ones((1, 1, 3))).numpy().ravel().tolist()
    [2.0, 3.0, 2.0]
    """

    def _padding(self, x: tf.Tensor, w: tf.Tensor) -> list[tuple[Any, Any]]:
        """Returns the padding before and after in each spatial dimension."""
        spatial = len(self.strides)
        if not self.auto_pad.startswith("SAME"):
            return [(self.pads[i], self.pads[i + spatial]) for i in range(spatial)]
        padding = []
        for i, length in enumerate(keras.ops.shape(x)[1:-1]):
            stride = self.strides[i]
            missing = (-(-length // stride) - 1) * stride + self._reach(w, i) - length
            total = max(missing, 0) if isinstance(missing, int) else tf.maximum(missing, 0)
            upper = total - total // 2
            padding.append(
                (total - upper, upper) if self.auto_pad == "SAME_UPPER" else (upper, total - upper)
            )
        return padding

    def call(self, x: tf.Tensor, w: tf.Tensor, bias: tf.Tensor | None = None) -> tf.Tensor:
        """Returns the convolution."""
        padding = [(0, 0), *self._padding(x, w), (0, 0)]
        if any(not isinstance(n, int) or n for pair in padding for n in pair):
            x = tf.pad(x, padding)
        y = self._convolved(x, tf.transpose(w, [*range(2, len(w.shape)), 1, 0]))
        return y if bias is None else y + bias

    def _convolved(self, x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        """Returns the convolution of padded x with filters [k..., c / group, m]."""
        strides, dilations = self.strides, self.dilations
        if len(strides) == 1:
            x, w = tf.expand_dims(x, 1), tf.expand_dims(w, 0)
            return tf.squeeze(self._flat(x, w, (1, *strides), (1, *dilations)), 1)
        if len(strides) == 2:
            return self._flat(x, w, strides, dilations)
        parts = [
            tf.nn.conv3d(a, b, [1, *strides, 1], "VALID", dilations=[1, *dilations, 1])
            for a, b in zip(tf.split(x, self.group, -1), tf.split(w, self.group, -1), strict=True)
        ]
        return tf.concat(parts, -1)

    def _flat(
        self, x: tf.Tensor, w: tf.Tensor, strides: Sequence[int], dilations: Sequence[int]
    ) -> tf.Tensor:
        """Returns a convolution in two dimensions."""
        depthwise = self.group > 1 and w.shape[2] == 1 and strides[0] == strides[1]
        if not depthwise or (strides[0] > 1 and set(dilations) != {1}):
            return tf.nn.conv2d(x, w, strides, "VALID", dilations=dilations)
        w = tf.reshape(w, [*w.shape[:2], self.group, w.shape[3] // self.group])
        return tf.nn.depthwise_conv2d(x, w, [1, *strides, 1], "VALID", dilations=dilations)


@keras.saving.register_keras_serializable(package="tf_qops")
class TransposedConvolution(_Convolution):
    """Spreads floats by filters, channels last (ONNX ConvTranspose, versions 1 to 22).

    Args:
        strides, dilations: one number per spatial dimension (one or two).
        pads: ONNX order, what is cut off the result.
        auto_pad: "NOTSET", "SAME_UPPER", "SAME_LOWER" or "VALID".
        group: channels are split into so many groups.
        output_padding: what is added at the ends.
        spatial_shape: the result's spatial lengths, instead of pads.
        **kwargs: those of `keras.layers.Layer`.

    Input: x [n, ..., c], w [c, m / group, k...] of static shape, optional bias [m]. Output:
    [n, ..., m].

    Example:

    >>> layer = TransposedConvolution((2,), (1,), (0, 0))
    >>> layer(tf.ones((1, 2, 1)), tf.ones((1, 1, 3))).numpy().ravel().tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """

    def __init__(
        self,
        strides: Sequence[int],
        dilations: Sequence[int],
        pads: Sequence[int],
        auto_pad: str = "NOTSET",
        group: int = 1,
        output_padding: Sequence[int] | None = None,
        spatial_shape: Sequence[int] | None = None,
        **kwargs: Any,
    ):
        super().__init__(strides, dilations, pads, auto_pad, group, **kwargs)
        self.output_padding = tuple(output_padding or (0,) * len(self.strides))
        self.spatial_shape = None if spatial_shape is None else tuple(spatial_shape)

    def _cut(self, w: tf.Tensor, length: Any, i: int) -> tuple[Any, Any]:
        """Returns where the result begins in the full one, and its length."""
        full = (length - 1) * self.strides[i] + self._reach(w, i) + self.output_padding[i]
        if self.spatial_shape is None and not self.auto_pad.startswith("SAME"):
            before, after = self.pads[i], self.pads[i + len(self.strides)]
            return before, full - before - after
        wanted = length * self.strides[i] if self.spatial_shape is None else self.spatial_shape[i]
        total = full - wanted
        return (total // 2 if self.auto_pad == "SAME_UPPER" else total - total // 2), wanted

    def call(self, x: tf.Tensor, w: tf.Tensor, bias: tf.Tensor | None = None) -> tf.Tensor:
        """Returns the transposed convolution."""
        spatial = len(self.strides)
        cuts = [self._cut(w, n, i) for i, n in enumerate(keras.ops.shape(x)[1:-1])]
        reaches = [self._reach(w, i) for i in range(spatial)]
        x, w = self._apart(x), self._flipped(w)
        # Far enough on both sides for every cut.
        more = [
            (reach - 1, reach - 1 + max(extra, 0) + self.strides[i])
            for i, (reach, extra) in enumerate(zip(reaches, self.output_padding, strict=True))
        ]
        x = tf.pad(x, [(0, 0), *more, (0, 0)])
        plain = Convolution((1,) * spatial, self.dilations, (0,) * (2 * spatial), "NOTSET",
                            self.group, dtype=self.dtype_policy)  # fmt: skip
        y = plain._convolved(x, w)
        index = [slice(None), *(slice(b, b + n) for b, n in cuts), slice(None)]
        y = y[tuple(index)]
        return y if bias is None else y + bias

    def _apart(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x with zeros between its elements, as the strides say."""
        for axis, stride in enumerate(self.strides, 1):
            if stride == 1:
                continue
            shape = keras.ops.shape(x)
            wide = tf.pad(
                tf.expand_dims(x, axis + 1),
                [(0, stride - 1 if d == axis + 1 else 0) for d in range(len(shape) + 1)],
            )
            joined = tf.reshape(wide, [*shape[:axis], shape[axis] * stride, *shape[axis + 1 :]])
            x = joined[(slice(None),) * axis + (slice(0, (shape[axis] - 1) * stride + 1),)]
        return x

    def _flipped(self, w: tf.Tensor) -> tf.Tensor:
        """Returns filters [c, m / group, k...] as [k..., c / group, m], turned round."""
        spatial = len(self.strides)
        w = tf.reverse(w, list(range(2, spatial + 2)))
        c, m, *kernel = w.shape
        w = tf.reshape(w, [self.group, c // self.group, m, *kernel])
        w = tf.transpose(w, [*range(3, spatial + 3), 1, 0, 2])
        return tf.reshape(w, [*kernel, c // self.group, self.group * m])
