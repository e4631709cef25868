"""Which elements share a scale: parameters spread over a tensor, and sums back to their shape."""

import tensorflow as tf


def _is_single(parameter: tf.Tensor, block_size: int) -> bool:
    return not block_size and parameter.shape.num_elements() == 1


def _shape_along(x: tf.Tensor, axis: int) -> tf.Tensor | list[int]:
    """Returns the shape of a vector along one axis of x."""
    if x.shape.rank is None:
        place = axis % tf.rank(x)
        return tf.where(tf.range(tf.rank(x)) == place, -1, 1)
    return [-1 if d == axis % x.shape.rank else 1 for d in range(x.shape.rank)]


def spread(parameter: tf.Tensor, x: tf.Tensor, axis: int, block_size: int = 0) -> tf.Tensor:
    """Returns a scale or zero point in a shape that broadcasts with x."""
    if _is_single(parameter, block_size) or x.shape.rank == 0:
        return tf.reshape(parameter, [])
    if not block_size:
        return tf.reshape(parameter, _shape_along(x, axis))
    repeated = tf.repeat(parameter, block_size, axis)
    return tf.slice(repeated, tf.zeros(tf.rank(x), tf.int32), tf.shape(x))


def summed(values: tf.Tensor, parameter: tf.Tensor, axis: int, block_size: int = 0) -> tf.Tensor:
    """Returns the sums of values over the elements that share a parameter, in its shape."""
    if block_size:
        axis %= parameter.shape.rank
        shape, blocks = tf.shape(values), tf.shape(parameter)[axis]
        missing = blocks * block_size - shape[axis]
        widths = [[0, missing if d == axis else 0] for d in range(parameter.shape.rank)]
        split = tf.concat([shape[:axis], [blocks, block_size], shape[axis + 1 :]], 0)
        return tf.reduce_sum(tf.reshape(tf.pad(values, widths), split), axis + 1)
    if _is_single(parameter, block_size) or values.shape.rank == 0:
        return tf.reshape(tf.reduce_sum(values), tf.shape(parameter))
    rank = tf.rank(values) if values.shape.rank is None else values.shape.rank
    others = tf.range(rank - 1) + tf.cast(tf.range(rank - 1) >= axis % rank, tf.int32)
    sums = tf.reduce_sum(values, others)
    # A single parameter whose length is not known before the run takes all of them.
    return tf.reduce_sum(tf.reshape(sums, [tf.size(parameter), -1]), 1)
