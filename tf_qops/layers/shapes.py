"""Operators that read shapes or take them as tensors, with ONNX's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer

_Shape = Sequence[int | None]


@keras.saving.register_keras_serializable(package="tf_qops")
class Shape(PlainLayer):
    """Returns the shape of its input as int64 (ONNX Shape, versions 1 to 25).

    Args:
        start, end: the part of the shape, as Python slices count; None is everything.
        **kwargs: those of `keras.layers.Layer`.

    Input: any shape and dtype. Output: int64 [rank], or fewer.

    Example:

    >>> Shape(1)(tf.zeros((2, 3, 4))).numpy().tolist()
    [3, 4]
    """

    def __init__(self, start: int | None = None, end: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.start = start
        self.end = end

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the shape."""
        return tf.shape(x, tf.int64)[self.start : self.end]


@keras.saving.register_keras_serializable(package="tf_qops")
class Squeeze(PlainLayer):
    """Takes away dimensions of length 1, known as such or not (ONNX Squeeze, versions 1 to 25).

    Args:
        axes: of the dimensions.
        **kwargs: those of `keras.layers.Layer`.

    Input: any shape and dtype. Output: the same values.

    Example:

    >>> Squeeze([0])(tf.zeros((1, 2))).shape
    TensorShape([2])
    """

    def __init__(self, axes: Sequence[int], **kwargs: Any):
        super().__init__(**kwargs)
        self.axes = tuple(axes)

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x without the dimensions."""
        return tf.squeeze(x, self.axes)


class _Shaped(PlainLayer):
    """A layer whose output has a shape that tensors tell, and some of it is known before.

    Args:
        static_shape: what is known of the output's shape, None for unknown dimensions; None if
            not even its rank is known.
        **kwargs: those of `keras.layers.Layer`.
    """

    def __init__(self, static_shape: _Shape | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.static_shape = static_shape

    def shaped(self, y: tf.Tensor) -> tf.Tensor:
        """Returns y with what is known of its shape."""
        return y if self.static_shape is None else tf.ensure_shape(y, self.static_shape)


@keras.saving.register_keras_serializable(package="tf_qops")
class ReshapeTo(_Shaped):
    """Reshapes to a computed target (ONNX Reshape, versions 5 to 25).

    Args:
        static_shape: what is known of the output's shape.
        allow_zero: 0 means a dimension of length 0; otherwise it keeps the input's dimension.
        **kwargs: those of `keras.layers.Layer`.

    Input: x of any shape and dtype, target integers [rank]. Output: the same values.

    Example:

    >>> ReshapeTo()(tf.zeros((2, 6)), tf.constant([0, 3, -1])).shape
    TensorShape([2, 3, 2])
    """

    def __init__(self, static_shape: _Shape | None = None, allow_zero: bool = False, **kwargs: Any):
        super().__init__(static_shape, **kwargs)
        self.allow_zero = allow_zero

    def call(self, x: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
        """Returns x in the target shape."""
        target = tf.cast(target, tf.int64)
        if not self.allow_zero:
            given = tf.shape(x, tf.int64)
            rank = tf.size(target)
            padded = tf.concat([given, tf.zeros([rank], tf.int64)], 0)[:rank]
            target = tf.where(target == 0, padded, target)
        return self.shaped(tf.reshape(x, target))


@keras.saving.register_keras_serializable(package="tf_qops")
class Expand(_Shaped):
    """Broadcasts to a computed shape, in both directions (ONNX Expand, versions 8 and 13).

    Args:
        static_shape: what is known of the output's shape.
        **kwargs: those of `keras.layers.Layer`.

    Input: x of any shape and dtype, shape integers [rank]. Output: x's values repeated.

    Example:

    >>> Expand()(tf.ones((3, 1)), tf.constant([2, 1, 4])).shape
    TensorShape([2, 3, 4])
    """

    def call(self, x: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
        """Returns x repeated."""
        shape = tf.broadcast_dynamic_shape(tf.shape(x, tf.int64), tf.cast(shape, tf.int64))
        return self.shaped(tf.broadcast_to(x, shape))


@keras.saving.register_keras_serializable(package="tf_qops")
class Fill(_Shaped):
    """Fills a computed shape with one value (ONNX ConstantOfShape, versions 9 to 25).

    Args:
        value: the number.
        value_dtype: its dtype.
        static_shape: what is known of the output's shape.
        **kwargs: those of `keras.layers.Layer`.

    Input: integers [rank]. Output: a tensor of that shape.

    Example:

    >>> Fill(7, "int8")(tf.constant([2, 2])).numpy().tolist()
    [[7, 7], [7, 7]]
    """

    def __init__(
        self, value: float, value_dtype: str, static_shape: _Shape | None = None, **kwargs: Any
    ):
        super().__init__(static_shape, **kwargs)
        self.value = value
        self.value_dtype = value_dtype

    def call(self, shape: tf.Tensor) -> tf.Tensor:
        """Returns the filled tensor."""
        return self.shaped(tf.fill(shape, tf.constant(self.value, self.value_dtype)))


@keras.saving.register_keras_serializable(package="tf_qops")
class Range(_Shaped):
    """Counts from a computed start to a limit (ONNX Range, versions 11 and 27).

    Args:
        static_shape: what is known of the output's shape.
        **kwargs: those of `keras.layers.Layer`.

    Input: scalars start, limit and delta of one dtype. Output: [n] of that dtype.

    Example:

    >>> Range()(tf.constant(1), tf.constant(8), tf.constant(3)).numpy().tolist()
    [1, 4, 7]
    """

    def call(self, start: tf.Tensor, limit: tf.Tensor, delta: tf.Tensor) -> tf.Tensor:
        """Returns the numbers."""
        start, limit, delta = (tf.reshape(t, []) for t in (start, limit, delta))
        wide = tf.int32 if start.dtype == tf.int16 else start.dtype
        y = tf.range(*(tf.cast(t, wide) for t in (start, limit, delta)))
        return self.shaped(tf.cast(y, start.dtype))


@keras.saving.register_keras_serializable(package="tf_qops")
class Tile(_Shaped):
    """Repeats a tensor a computed number of times (ONNX Tile, versions 6 and 13).

    Args:
        static_shape: what is known of the output's shape.
        **kwargs: those of `keras.layers.Layer`.

    Input: x of any shape and dtype, repeats int64 [rank]. Output: x repeated.

    Example:

    >>> Tile()(tf.constant([1, 2]), tf.constant([2])).numpy().tolist()
    [1, 2, 1, 2]
    """

    def call(self, x: tf.Tensor, repeats: tf.Tensor) -> tf.Tensor:
        """Returns x repeated."""
        return self.shaped(tf.tile(x, repeats))


@keras.saving.register_keras_serializable(package="tf_qops")
class Slice(PlainLayer):
    """Takes a slice that tensors or arguments tell (ONNX Slice, versions 1 to 13).

    Args:
        starts, ends, axes, steps: of the slice, where they are fixed; None where they come as
            inputs. `axes` None is the first ones, `steps` None is 1.
        **kwargs: those of `keras.layers.Layer`.

    Input: x of any shape and dtype; unless `starts` is given, starts, ends and, where they are
    not 1, steps: integers, one per axis. Output: the slice.

    Example:

    >>> Slice([-1], [-100], [0], [-2])(tf.range(5)).numpy().tolist()
    [4, 2, 0]
    """

    def __init__(
        self,
        starts: Sequence[int] | None = None,
        ends: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        steps: Sequence[int] | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.starts = starts
        self.ends = ends
        self.axes = axes
        self.steps = steps

    def call(
        self,
        x: tf.Tensor,
        starts: tf.Tensor | None = None,
        ends: tf.Tensor | None = None,
        steps: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Returns the slice."""
        if self.starts is not None:
            return self._fixed(x)
        rank, lengths = x.shape.rank, tf.shape(x, tf.int64)
        axes = [axis % rank for axis in self.axes or range(starts.shape[0])]
        begin, end, stride = [0] * rank, tf.unstack(lengths, rank), [1] * rank
        for i, axis in enumerate(axes):
            stride[axis] = (
                tf.constant(1, tf.int64) if steps is None else tf.cast(steps[i], tf.int64)
            )
            begin[axis], end[axis] = self._bounds(starts[i], ends[i], stride[axis], lengths[axis])
        y = tf.strided_slice(
            x, *(tf.stack(tf.nest.map_structure(_wide, t)) for t in (begin, end, stride))
        )
        y.set_shape([None if d in axes else x.shape[d] for d in range(rank)])
        return y

    @staticmethod
    def _bounds(
        start: tf.Tensor, end: tf.Tensor, step: tf.Tensor, length: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns where one axis's slice starts and ends, inside the tensor."""
        start, end = tf.cast(start, tf.int64), tf.cast(end, tf.int64)
        start = tf.where(start < 0, start + length, start)
        end = tf.where(end < 0, tf.maximum(end, -length - 1) + length, end)
        back = step < 0
        start = tf.clip_by_value(start, 0, tf.where(back, length - 1, length))
        end = tf.where(
            back, tf.clip_by_value(end, -1, length - 1), tf.clip_by_value(end, 0, length)
        )
        # An end of -1 would count from the end again.
        return start, tf.where(end < 0, -length - 1, end)

    def _fixed(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the slice that the arguments tell."""
        index = [slice(None)] * x.shape.rank
        axes = range(len(self.starts)) if self.axes is None else self.axes
        steps = self.steps or [1] * len(self.starts)
        for axis, *bounds, step in zip(axes, self.starts, self.ends, steps, strict=True):
            start, end = (None if abs(b) >= 2**31 - 1 else b for b in bounds)
            length = x.shape[axis]
            if length is not None:
                start, end, _ = slice(*bounds, step).indices(length)
                end = None if end < 0 else end
            index[axis] = slice(start, end, step)
        return x[tuple(index)]


def _wide(number: int | tf.Tensor) -> tf.Tensor:
    return tf.cast(number, tf.int64)
