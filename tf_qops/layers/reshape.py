"""Reshape and Flatten with ONNX's rules, which do not spare the batch dimension as Keras does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._base import OperatorLayer


@keras.saving.register_keras_serializable(package="tf_qops")
class Reshape(OperatorLayer):
    """Reshapes the whole tensor.

    ONNX Reshape (versions 5 to 25) with a fixed target.

    Args:
        target_shape: at most one -1, which takes what is left; 0 keeps the input's dimension at
            that place.
        allow_zero: 0 means a dimension of length 0.
        **kwargs: those of `keras.layers.Layer`.

    Input: any shape and dtype. Output: the same values in the target shape.

    Raises:
        ValueError: more than one -1, or a 0 where the input has no dimension.

    Example:

    >>> Reshape((0, 2, -1))(tf.zeros((5, 8))).shape
    TensorShape([5, 2, 4])
    """

    def __init__(self, target_shape: Sequence[int], allow_zero: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.target_shape = tuple(int(d) for d in target_shape)
        if self.target_shape.count(-1) > 1 or any(d < -1 for d in self.target_shape):
            raise ValueError(
                "target_shape must hold lengths and at most one -1. "
                f"Received: target_shape={target_shape}"
            )
        self.allow_zero = allow_zero

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x in the target shape."""
        shape = keras.ops.shape(x)
        kept = [] if self.allow_zero else [i for i, d in enumerate(self.target_shape) if d == 0]
        if kept and kept[-1] >= len(shape):
            raise ValueError(
                "target_shape keeps a dimension that the input does not have. "
                f"Received: target_shape={self.target_shape}, input of shape {x.shape}"
            )
        target = [shape[i] if i in kept else d for i, d in enumerate(self.target_shape)]
        rest = [d for i, d in enumerate(shape) if i not in kept]
        named = math.prod(d for d in self.target_shape if d > 0)
        if -1 in self.target_shape and all(isinstance(d, int) for d in rest):
            # The lengths that are kept cancel out.
            target[self.target_shape.index(-1)] = math.prod(rest) // named
        return tf.reshape(x, target)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "target_shape": self.target_shape,
            "allow_zero": self.allow_zero,
        }


@keras.saving.register_keras_serializable(package="tf_qops")
class Flatten(OperatorLayer):
    """Flattens to a matrix: the dimensions before `axis` and those from it on.

    ONNX Flatten (versions 1 to 25).

    Args:
        axis: where the columns begin, in [-rank, rank].
        **kwargs: those of `keras.layers.Layer`.

    Input: any shape and dtype. Output: the same values as a matrix.

    Raises:
        ValueError: axis out of range.

    Example:

    >>> Flatten(axis=2)(tf.zeros((2, 3, 4, 5))).shape
    TensorShape([6, 20])
    """

    def __init__(self, axis: int = 1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x as a matrix."""
        rank = x.shape.rank
        if not -rank <= self.axis <= rank:
            raise ValueError(
                f"axis must be in [{-rank}, {rank}]. "
                f"Received: axis={self.axis} for x of rank {rank}"
            )
        axis = self.axis + rank if self.axis < 0 else self.axis
        shape = keras.ops.shape(x)
        return tf.reshape(x, [math.prod(shape[:axis]), math.prod(shape[axis:])])

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {"axis": self.axis}
