"""Operators that look for elements or pick them by index, with ONNX's rules."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer


def _from_the_front(indices: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Returns indices as int64, negative ones counted from the front."""
    indices = tf.cast(indices, tf.int64)
    return tf.where(indices < 0, indices + lengths, indices)


def _reversed_order(x: tf.Tensor) -> tf.Tensor:
    """Returns numbers of the same type that are ordered the other way round."""
    return -x if x.dtype.is_floating else tf.bitwise.invert(x)


@keras.saving.register_keras_serializable(package="tf_qops")
class ArgExtreme(PlainLayer):
    """Returns where the largest or smallest element is (ONNX ArgMax and ArgMin, 1 to 13).

    Args:
        axis: along which to look.
        largest: or smallest.
        keepdims: keeps the axis, with length 1.
        select_last_index: of several equal elements, takes the last instead of the first.
        **kwargs: those of `keras.layers.Layer`.

    Input: numbers. Output: int64.

    Example:

    >>> ArgExtreme(0, select_last_index=True)(tf.constant([3, 9, 9])).numpy().tolist()
    [2]
    """

    def __init__(
        self,
        axis: int = 0,
        largest: bool = True,
        keepdims: bool = True,
        select_last_index: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.axis = axis
        self.largest = largest
        self.keepdims = keepdims
        self.select_last_index = select_last_index

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the indices."""
        if self.select_last_index:
            x = tf.reverse(x, [self.axis])
        y = (tf.argmax if self.largest else tf.argmin)(x, self.axis, tf.int64)
        if self.select_last_index:
            y = tf.shape(x, tf.int64)[self.axis] - 1 - y
        return tf.expand_dims(y, self.axis) if self.keepdims else y


@keras.saving.register_keras_serializable(package="tf_qops")
class TopK(PlainLayer):
    """Returns the k largest or smallest elements, in order, and their places (ONNX TopK, 1 to 24).

    Args:
        k: how many; None where it comes as the second input.
        axis: along which to look.
        largest: or smallest.
        **kwargs: those of `keras.layers.Layer`.

    Input: numbers, and k as int64 [1]. Output: values, and their indices as int64; of equal
    elements the first ones come first.

    Example:

    >>> [y.numpy().tolist() for y in TopK(2, largest=False)(tf.constant([3, 1, 2]))]
    [[1, 2], [1, 2]]
    """

    def __init__(self, k: int | None = None, axis: int = -1, largest: bool = True, **kwargs: Any):
        super().__init__(**kwargs)
        self.k = k
        self.axis = axis
        self.largest = largest

    def call(self, x: tf.Tensor, k: tf.Tensor | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns values and indices."""
        count = self.k if k is None else tf.reshape(tf.cast(k, tf.int32), [])
        rank = x.shape.rank
        axis = self.axis % rank
        order = [*(d for d in range(rank) if d != axis), axis]
        back = [order.index(d) for d in range(rank)]
        moved = tf.transpose(x, order)
        ranked = moved if self.largest else _reversed_order(moved)
        values, indices = tf.math.top_k(ranked, count)
        values = values if self.largest else _reversed_order(values)
        return tf.transpose(values, back), tf.cast(tf.transpose(indices, back), tf.int64)


@keras.saving.register_keras_serializable(package="tf_qops")
class GatherND(PlainLayer):
    """Gathers slices by index tuples (ONNX GatherND, versions 11 to 13).

    Args:
        batch_dims: leading dimensions that data and indices share.
        **kwargs: those of `keras.layers.Layer`.

    Input: data of any shape and dtype, indices int64. Output: data's dtype.

    Example:

    >>> GatherND()(tf.constant([[1, 2], [3, 4]]), tf.constant([[0, -1]])).numpy().tolist()
    [2]
    """

    def __init__(self, batch_dims: int = 0, **kwargs: Any):
        super().__init__(**kwargs)
        self.batch_dims = batch_dims

    def call(self, data: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
        """Returns the slices."""
        lengths = tf.shape(data, tf.int64)[self.batch_dims :][: indices.shape[-1]]
        places = _from_the_front(indices, lengths)
        return tf.gather_nd(data, places, batch_dims=self.batch_dims)


_SCATTER = {
    "none": tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
    "min": tf.tensor_scatter_nd_min,
}


@keras.saving.register_keras_serializable(package="tf_qops")
class ScatterND(PlainLayer):
    """Replaces slices at index tuples, or adds to them (ONNX ScatterND, versions 11 to 18).

    Args:
        reduction: "none", "add", "max" or "min".
        **kwargs: those of `keras.layers.Layer`.

    Input: data of any shape and dtype, indices int64, updates of data's dtype. Output: data's
    shape and dtype.

    Raises:
        ValueError: an unknown reduction.

    Example:

    >>> layer = ScatterND("add")
    >>> layer(tf.zeros(3), tf.constant([[-1]]), tf.constant([5.0])).numpy().tolist()
    [0.0, 0.0, 5.0]
    """

    def __init__(self, reduction: str = "none", **kwargs: Any):
        super().__init__(**kwargs)
        if reduction not in _SCATTER:
            raise ValueError(
                f"reduction must be one of {list(_SCATTER)}. Received: reduction={reduction!r}"
            )
        self.reduction = reduction

    def call(self, data: tf.Tensor, indices: tf.Tensor, updates: tf.Tensor) -> tf.Tensor:
        """Returns data with the updates."""
        places = _from_the_front(indices, tf.shape(data, tf.int64)[: indices.shape[-1]])
        return _SCATTER[self.reduction](data, places, updates)


@keras.saving.register_keras_serializable(package="tf_qops")
class ScatterElements(ScatterND):
    """Replaces single elements along an axis, or adds to them (ONNX ScatterElements, 11 to 18).

    Args:
        axis: along which indices count.
        reduction: "none", "add", "max" or "min".
        **kwargs: those of `keras.layers.Layer`.

    Input: data of any shape and dtype, indices int64 and updates of one shape. Output: data's
    shape and dtype.

    Example:

    >>> layer = ScatterElements(axis=0)
    >>> layer(tf.zeros(3), tf.constant([1]), tf.constant([7.0])).numpy().tolist()
    [0.0, 7.0, 0.0]
    """

    def __init__(self, axis: int = 0, reduction: str = "none", **kwargs: Any):
        super().__init__(reduction, **kwargs)
        self.axis = axis

    def call(self, data: tf.Tensor, indices: tf.Tensor, updates: tf.Tensor) -> tf.Tensor:
        """Returns data with the updates."""
        lengths = tf.shape(indices, tf.int64)
        rank = data.shape.rank
        places = tf.meshgrid(*(tf.range(lengths[d]) for d in range(rank)), indexing="ij")
        places[self.axis % rank] = tf.cast(indices, tf.int64)
        return super().call(data, tf.stack(places, -1), updates)


@keras.saving.register_keras_serializable(package="tf_qops")
class OneHot(PlainLayer):
    """Marks indices along a new axis (ONNX OneHot, versions 9 and 11).

    Args:
        depth: length of the new axis; None where it comes with the inputs.
        axis: where the new axis goes.
        **kwargs: those of `keras.layers.Layer`.

    Input: indices, values [off, on], and depth as a scalar or [1] where it is not given. Output:
    the dtype of values; indices outside [-depth, depth - 1] mark nothing.

    Example:

    >>> OneHot(3)(tf.constant([-1]), tf.constant([0, 5])).numpy().tolist()
    [[0, 0, 5]]
    """

    def __init__(self, depth: int | None = None, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.depth = depth
        self.axis = axis

    def call(
        self, indices: tf.Tensor, values: tf.Tensor, depth: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Returns the marks."""
        depth = self.depth if depth is None else tf.reshape(tf.cast(depth, tf.int32), [])
        places = _from_the_front(indices, tf.cast(depth, tf.int64))
        axis = self.axis if self.axis >= 0 else self.axis + indices.shape.rank + 1
        marked = tf.one_hot(places, depth, True, False, axis, tf.bool)
        return tf.where(marked, values[1], values[0])


@keras.saving.register_keras_serializable(package="tf_qops")
class NonZero(PlainLayer):
    """Returns the places of all elements that are not 0 (ONNX NonZero, versions 9 and 13).

    Input: any shape and dtype. Output: int64 [rank, number of such elements].

    Example:

    >>> NonZero()(tf.constant([0, 4, 5])).numpy().tolist()
    [[1, 2]]
    """

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the places."""
        return tf.transpose(tf.where(tf.not_equal(x, tf.cast(0, x.dtype))))
