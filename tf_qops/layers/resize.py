"""Resizing with ONNX's ways to place and weigh pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer

_PLACES = {
    "align_corners": lambda i, s, a, b: i * (a - 1) / tf.maximum(b - 1, 1),
    "asymmetric": lambda i, s, a, b: i / s,
    "half_pixel": lambda i, s, a, b: (i + 0.5) / s - 0.5,
    "half_pixel_symmetric": lambda i, s, a, b: a / 2 * (1 - b / (s * a)) + (i + 0.5) / s - 0.5,
    "pytorch_half_pixel": lambda i, s, a, b: tf.where(b > 1, (i + 0.5) / s - 0.5, 0 * i),
    "tf_half_pixel_for_nn": lambda i, s, a, b: (i + 0.5) / s,
}
_NEAREST = {
    "ceil": tf.math.ceil,
    "floor": tf.math.floor,
    "round_prefer_ceil": lambda x: tf.math.floor(x + 0.5),
    "round_prefer_floor": lambda x: tf.math.ceil(x - 0.5),
}
_REACH = {"linear": (0, 1), "cubic": (-1, 0, 1, 2)}


@keras.saving.register_keras_serializable(package="tf_qops")
class Resize(PlainLayer):
    """Resizes along some axes (ONNX Upsample 7 and 9, Resize 10 to 19, without antialiasing).

    Args:
        axes: to resize.
        scales: the factor of each axis; None takes those from `sizes`.
        sizes: the new lengths; None takes the old ones times `scales`, rounded down.
        mode: "nearest", "linear" or "cubic".
        coordinate_mode: where in the input a place of the output lies, in ONNX's words.
        nearest_mode: "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil".
        cubic_coeff_a: of the cubic weights.
        exclude_outside: weights of places outside the input are 0, the others make up for it.
        **kwargs: those of `keras.layers.Layer`.

    Input: numbers. Output: the same dtype. Places and weights are computed in float32.

    Raises:
        ValueError: an unknown mode.

    Example:

    >>> layer = Resize([0], [2.0], None, "linear")
    >>> layer(tf.constant([0.0, 4.0])).numpy().tolist()
    [0.0, 1.0, 3.0, 4.0]
    """

    def __init__(
        self,
        axes: Sequence[int],
        scales: Sequence[float] | None,
        sizes: Sequence[int] | None,
        mode: str = "nearest",
        coordinate_mode: str = "half_pixel",
        nearest_mode: str = "round_prefer_floor",
        cubic_coeff_a: float = -0.75,
        exclude_outside: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        for name, value, known in (
            ("mode", mode, ("nearest", *_REACH)),
            ("coordinate_mode", coordinate_mode, tuple(_PLACES)),
            ("nearest_mode", nearest_mode, tuple(_NEAREST)),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {known}. Received: {name}={value!r}")
        self.axes = tuple(axes)
        self.scales = None if scales is None else tuple(scales)
        self.sizes = None if sizes is None else tuple(sizes)
        self.mode = mode
        self.coordinate_mode = coordinate_mode
        self.nearest_mode = nearest_mode
        self.cubic_coeff_a = cubic_coeff_a
        self.exclude_outside = exclude_outside

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x resized."""
        dtype = x.dtype
        for i, axis in enumerate(self.axes):
            length = keras.ops.shape(x)[axis]
            scale = None if self.scales is None else self.scales[i]
            if self.sizes is not None:
                size = self.sizes[i]
            elif isinstance(length, int):
                size = int(length * scale)
            else:
                size = tf.cast(tf.math.floor(tf.cast(length, tf.float32) * scale), tf.int32)
            if (scale is None or scale == 1) and isinstance(length, int) and size == length:
                continue
            x = self._along(x, axis, length, size, scale)
        return tf.cast(x, dtype)

    def _along(self, x: tf.Tensor, axis: int, length: Any, size: Any, scale: Any) -> tf.Tensor:
        """Resizes one axis."""
        a, b = tf.cast(length, tf.float32), tf.cast(size, tf.float32)
        factor = b / a if scale is None else tf.constant(scale, tf.float32)
        numbers = tf.cast(tf.range(size), tf.float32)
        places = _PLACES[self.coordinate_mode](numbers, factor, a, b)
        if self.mode == "nearest":
            nearest = tf.cast(_NEAREST[self.nearest_mode](places), tf.int32)
            return tf.gather(x, tf.clip_by_value(nearest, 0, length - 1), axis=axis)
        if self.mode == "linear":
            places = tf.clip_by_value(places, 0.0, a - 1)
        first = tf.math.floor(places)
        weights = self._weights(places - first)
        indices = [tf.cast(first, tf.int32) + offset for offset in _REACH[self.mode]]
        if self.exclude_outside and self.mode == "cubic":
            inside = [tf.cast((i >= 0) & (i < length), tf.float32) for i in indices]
            weights = [w * k for w, k in zip(weights, inside, strict=True)]
            total = tf.add_n(weights)
            weights = [w / total for w in weights]
        shape = [-1 if d == axis % x.shape.rank else 1 for d in range(x.shape.rank)]
        wide = x.dtype if x.dtype == tf.float64 else tf.float32
        parts = [
            tf.cast(tf.gather(x, tf.clip_by_value(i, 0, length - 1), axis=axis), wide)
            * tf.cast(tf.reshape(w, shape), wide)
            for i, w in zip(indices, weights, strict=True)
        ]
        return tf.add_n(parts)

    def _weights(self, t: tf.Tensor) -> list[tf.Tensor]:
        """Returns the weights of the neighbours of a place that is t behind one."""
        if self.mode == "linear":
            return [1 - t, t]
        a = self.cubic_coeff_a

        def near(d: tf.Tensor) -> tf.Tensor:
            return ((a + 2) * d - (a + 3)) * d * d + 1

        def far(d: tf.Tensor) -> tf.Tensor:
            return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

        return [far(t + 1), near(t), near(1 - t), far(2 - t)]
