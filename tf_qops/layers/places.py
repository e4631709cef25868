"""Operators that move elements to other places: padding, blocks of pixels, running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer

_MODES = ("constant", "edge", "reflect", "wrap")


@keras.saving.register_keras_serializable(package="tf_qops")
class Pad(PlainLayer):
    """Pads or crops (ONNX Pad, versions 1 to 25).

    Args:
        pads: first all begins, then all ends, negative to crop; None where they are an input.
        mode: "constant", "edge", "reflect" or "wrap".
        axes: the axes that pads speak of; None is all.
        **kwargs: those of `keras.layers.Layer`.

    Input: x of any shape and dtype, value (a scalar of its dtype, used by "constant"), and pads
    int64 where they are not given. Output: x's dtype.

    Raises:
        ValueError: an unknown mode.

    Example:

    >>> Pad((1, 2), "reflect")(tf.constant([1, 2, 3]), tf.constant(0)).numpy().tolist()
    [2, 1, 2, 3, 2, 1]
    """

    def __init__(
        self,
        pads: Sequence[int] | None = None,
        mode: str = "constant",
        axes: Sequence[int] | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if mode not in _MODES:
            raise ValueError(f"mode must be one of {_MODES}. Received: mode={mode!r}")
        self.pads = None if pads is None else tuple(pads)
        self.mode = mode
        self.axes = None if axes is None else tuple(axes)

    def call(self, x: tf.Tensor, value: tf.Tensor, pads: tf.Tensor | None = None) -> tf.Tensor:
        """Returns x padded."""
        rank = x.shape.rank
        axes = range(rank) if self.axes is None else [a % rank for a in self.axes]
        if pads is None:
            numbers: Sequence[Any] = self.pads
        else:
            numbers = tf.unstack(tf.cast(pads, tf.int32), 2 * len(axes))
        widths: list[tuple[Any, Any]] = [(0, 0)] * rank
        for i, axis in enumerate(axes):
            widths[axis] = (numbers[i], numbers[i + len(axes)])
        return (
            self._constant(x, value, widths) if self.mode == "constant" else self._copied(x, widths)
        )

    @staticmethod
    def _constant(x: tf.Tensor, value: tf.Tensor, widths: list[tuple[Any, Any]]) -> tf.Tensor:
        """Crops, then pads with one value."""
        lengths = keras.ops.shape(x)
        index, more = [], []
        for (before, after), length in zip(widths, lengths, strict=True):
            fixed = isinstance(before, int)
            low, high = (min, max) if fixed else (tf.minimum, tf.maximum)
            if fixed and before >= 0 and after >= 0:
                index.append(slice(None))  # A computed end would hide the other axes' lengths.
            else:
                index.append(slice(-low(before, 0), length + low(after, 0)))
            more.append((high(before, 0), high(after, 0)))
        return tf.pad(x[tuple(index)], more, constant_values=tf.reshape(value, []))

    def _copied(self, x: tf.Tensor, widths: list[tuple[Any, Any]]) -> tf.Tensor:
        """Takes the padding from x itself."""
        for axis, (before, after) in enumerate(widths):
            if isinstance(before, int) and before == after == 0:
                continue
            length = keras.ops.shape(x)[axis]
            places = tf.range(-before, length + after)
            if self.mode == "edge":
                places = tf.clip_by_value(places, 0, length - 1)
            elif self.mode == "wrap":
                places = tf.math.floormod(places, length)
            else:
                period = tf.maximum(2 * (length - 1), 1)
                places = tf.math.floormod(places, period)
                places = tf.minimum(places, period - places)
            x = tf.gather(x, places, axis=axis)
        return x


@keras.saving.register_keras_serializable(package="tf_qops")
class DepthToSpace(PlainLayer):
    """Turns channels into blocks of pixels, channels last (ONNX DepthToSpace, versions 1 to 13).

    Args:
        block_size: height and width of a block.
        mode: "DCR": the block's places come first among the channels; "CRD": last.
        **kwargs: those of `keras.layers.Layer`.

    Input: [n, h, w, c * block_size^2]. Output: [n, h * block_size, w * block_size, c].

    Example:

    >>> DepthToSpace(2)(tf.reshape(tf.range(4), (1, 1, 1, 4))).numpy().ravel().tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, block_size: int, mode: str = "DCR", **kwargs: Any):
        super().__init__(**kwargs)
        self.block_size = block_size
        self.mode = mode

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the larger image."""
        if self.mode == "CRD":
            places, channels = self.block_size**2, x.shape[-1]
            order = [p + c * places for p in range(places) for c in range(channels // places)]
            x = tf.gather(x, order, axis=-1)
        return tf.nn.depth_to_space(x, self.block_size)


@keras.saving.register_keras_serializable(package="tf_qops")
class SpaceToDepth(PlainLayer):
    """Turns blocks of pixels into channels, channels last (ONNX SpaceToDepth, versions 1 to 28).

    Args:
        block_size: height and width of a block.
        mode: "DCR": the block's places come first among the channels; "CRD": last.
        **kwargs: those of `keras.layers.Layer`.

    Input: [n, h, w, c]. Output: [n, h / block_size, w / block_size, c * block_size^2].

    Example:

    >>> SpaceToDepth(2)(tf.zeros((1, 4, 6, 1))).shape
    TensorShape([1, 2, 3, 4])
    """

    def __init__(self, block_size: int, mode: str = "DCR", **kwargs: Any):
        super().__init__(**kwargs)
        self.block_size = block_size
        self.mode = mode

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the deeper image."""
        y = tf.nn.space_to_depth(x, self.block_size)
        if self.mode == "CRD":
            places, channels = self.block_size**2, x.shape[-1]
            order = [p * channels + c for c in range(channels) for p in range(places)]
            y = tf.gather(y, order, axis=-1)
        return y


@keras.saving.register_keras_serializable(package="tf_qops")
class CumSum(PlainLayer):
    """Adds up along an axis (ONNX CumSum, versions 11 and 14).

    Args:
        axis: along which to add; None where it is an input.
        exclusive: without the element itself.
        reverse: from the end.
        **kwargs: those of `keras.layers.Layer`.

    Input: numbers, and the axis (one integer) where it is not given. Output: the numbers' shape and
    dtype.

    Example:

    >>> CumSum(0, exclusive=True)(tf.constant([1, 2, 3])).numpy().tolist()
    [0, 1, 3]
    """

    def __init__(
        self, axis: int | None, exclusive: bool = False, reverse: bool = False, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.axis = axis
        self.exclusive = exclusive
        self.reverse = reverse

    def call(self, x: tf.Tensor, axis: tf.Tensor | None = None) -> tf.Tensor:
        """Returns the sums."""
        along = self.axis if axis is None else tf.reshape(axis, [])
        return tf.ensure_shape(tf.cumsum(x, along, self.exclusive, self.reverse), x.shape)


@keras.saving.register_keras_serializable(package="tf_qops")
class Triangle(PlainLayer):
    """Keeps one triangle of matrices, the rest becomes zero (ONNX Trilu, version 14).

    Args:
        upper: the triangle above the diagonal; else that below.
        **kwargs: those of `keras.layers.Layer`.

    Input: [..., rows, columns], and which diagonal bounds the triangle (one integer, positive above
    the main one). Output: the matrices' shape and dtype.

    Example:

    >>> Triangle()(tf.ones((2, 3)), tf.constant(1)).numpy().tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    """

    def __init__(self, upper: bool = True, **kwargs: Any):
        super().__init__(**kwargs)
        self.upper = upper

    def call(self, x: tf.Tensor, diagonal: tf.Tensor) -> tf.Tensor:
        """Returns the triangles."""
        rows, columns = (tf.range(tf.shape(x, tf.int64)[a]) for a in (-2, -1))
        above = columns - rows[:, tf.newaxis]
        diagonal = tf.cast(tf.reshape(diagonal, []), tf.int64)
        kept = above >= diagonal if self.upper else above <= diagonal
        return tf.where(kept, x, tf.zeros([], x.dtype))
