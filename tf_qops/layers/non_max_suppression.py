"""Choosing boxes that overlap little."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer


@keras.saving.register_keras_serializable(package="tf_qops")
class NonMaxSuppression(PlainLayer):
    """Chooses the best boxes of each class that overlap little (ONNX, versions 10 and 11).

    Args:
        centers: boxes are x, y, width, height instead of two corners y, x, y, x.
        scored: whether a threshold of the scores is an input.
        **kwargs: those of `keras.layers.Layer`.

    Input: boxes [batch, n, 4], scores [batch, classes, n], the most boxes per class (int64), the
    largest overlap (intersection over union) and, if scored, a threshold that scores must exceed.
    Output: int64 [chosen, 3]: batch, class, box.

    Example:

    >>> boxes = tf.constant([[[0.0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]])
    >>> scores = tf.constant([[[0.5, 0.9, 0.1]]])
    >>> NonMaxSuppression()(boxes, scores, tf.constant(9), tf.constant(0.5)).numpy().tolist()
    [[0, 0, 1], [0, 0, 2]]
    """

    def __init__(self, centers: bool = False, scored: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.centers = centers
        self.scored = scored

    def call(
        self,
        boxes: tf.Tensor,
        scores: tf.Tensor,
        most: tf.Tensor,
        overlap: tf.Tensor,
        threshold: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Returns the chosen boxes."""
        if self.centers:
            x, y, width, height = tf.unstack(boxes, 4, -1)
            corners = (y - height / 2, x - width / 2, y + height / 2, x + width / 2)
            boxes = tf.stack(corners, -1)
        most = tf.cast(tf.minimum(tf.cast(most, tf.int64), 2**31 - 1), tf.int32)
        most, overlap = tf.reshape(most, []), tf.reshape(overlap, [])
        lowest = tf.constant(-float("inf")) if threshold is None else tf.reshape(threshold, [])
        classes = tf.shape(scores)[1]
        count = tf.shape(scores)[0] * classes
        chosen = tf.TensorArray(tf.int64, count, infer_shape=False, element_shape=[None, 3])

        def choose(i: tf.Tensor, chosen: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            batch, kind = i // classes, i % classes
            row = scores[batch, kind]
            places = tf.image.non_max_suppression(boxes[batch], row, most, overlap, lowest)
            place = tf.cast(places, tf.int64)
            first = [tf.fill(tf.shape(place), tf.cast(n, tf.int64)) for n in (batch, kind)]
            return i + 1, chosen.write(i, tf.stack([*first, place], 1))

        _, chosen = tf.while_loop(lambda i, _: i < count, choose, (tf.constant(0), chosen))
        return tf.ensure_shape(chosen.concat(), [None, 3])
